"""`python -m replay.comparing`."""

import sys

from replay.comparing.arguments import COMMAND

if __name__ == "__main__":
    sys.exit(COMMAND.main())
