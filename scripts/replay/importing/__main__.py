"""`python -m replay.importing`."""

import sys

from replay.importing.arguments import COMMAND

if __name__ == "__main__":
    sys.exit(COMMAND.main())
