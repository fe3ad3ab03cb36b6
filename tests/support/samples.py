"""The tools' own output, verbatim, in tests/fixtures/tool-output."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "tool-output"


def sample(name: str) -> tuple[str, int]:
    """Return (output, exit status) of a sample; its first line (`$ …`) and its last (`# rc=…`) are notes on it."""
    text = (FOLDER / name).read_text()
    status = re.search(r"^# rc=(\d+)", text, re.MULTILINE)
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith(("$ ", "# rc="))]
    return "".join(lines), int(status[1]) if status else 0
