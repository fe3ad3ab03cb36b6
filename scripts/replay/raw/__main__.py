"""`python -m replay.raw`."""

import sys

from replay.raw.arguments import COMMAND

if __name__ == "__main__":
    sys.exit(COMMAND.main())
