"""The entry of `replay derive`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from replay.derive.arguments import COMMAND


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status, which is 3 if raw output is missing, altered or unreadable."""
    return COMMAND.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
