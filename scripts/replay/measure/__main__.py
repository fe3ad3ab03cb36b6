"""`python -m replay.measure`."""

import sys

from replay.measure.command import main

if __name__ == "__main__":
    sys.exit(main())
