"""`python -m replay.preflight`."""

import sys

from replay.preflight.arguments import COMMAND

if __name__ == "__main__":
    sys.exit(COMMAND.main())
