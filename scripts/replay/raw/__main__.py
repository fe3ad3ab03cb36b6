"""`python -m replay.raw`: look into evidence."""

import sys

from replay.raw.command import main

if __name__ == "__main__":
    sys.exit(main())
