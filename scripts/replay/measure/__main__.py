"""`python -m replay.measure`."""

import sys

from replay.measure.arguments import COMMAND

if __name__ == "__main__":
    sys.exit(COMMAND.main())
