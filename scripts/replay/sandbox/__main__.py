"""`python -m replay.sandbox`."""

import sys

from replay.sandbox.cli import main

sys.exit(main())
