"""`python -m replay.preflight`."""

import sys

from replay.preflight.command import main

if __name__ == "__main__":
    sys.exit(main())
