"""`python -m replay.sandbox`."""

import sys

from replay.sandbox.arguments import COMMAND

if __name__ == "__main__":
    sys.exit(COMMAND.main())
