"""Damages every recorded output of a benchmark tool at random, and counts what Replay makes of the result.

.venv/bin/python scripts/mutate_outputs.py [--mutations N] [--seed N] [--tool NAME …]

The exit status is 1 if a damaged output gave a figure that differs by more than 1 % without an error. Changes that no
parser can recognise from the text are counted separately, by name: tests/support/mutations.py says why.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.mutations import KINDS, OUTCOMES, WRONG, outputs, tally  # noqa: E402 - tests/ is importable only now


def main() -> int:
    """Run the program; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutations", type=int, default=10_000, metavar="N", help="of each output (10000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the same seed gives the same mutations (1)")
    parser.add_argument("--tool", action="append", metavar="NAME", help="only this tool; may be given more than once")
    options = parser.parse_args()

    by_tool: Counter[tuple[str, str]] = Counter()
    by_kind: Counter[tuple[str, str]] = Counter()
    files: Counter[str] = Counter()
    for output in outputs():
        if options.tool and output.tool not in options.tool:
            continue
        counts, examples = tally(output, options.mutations, options.seed)
        files[output.tool] += 1
        for (kind, outcome), count in counts.items():
            by_tool[output.tool, outcome] += count
            by_kind[kind, outcome] += count
        for what, example in examples.items():
            if what.startswith(WRONG):
                print(f"{output.name}: {what}: {example}")
    print(f"seed {options.seed}, {options.mutations} mutations of each output, without those that change nothing")
    _print_table("tool", {f"{tool}, {count} outputs": tool for tool, count in files.items()}, by_tool)
    _print_table("kind", {kind: kind for kind in KINDS}, by_kind)
    return 1 if any(count for (_, outcome), count in by_tool.items() if outcome == WRONG) else 0


def _print_table(title: str, rows: dict[str, str], counts: Counter[tuple[str, str]]) -> None:
    width = max(map(len, [title, *rows]))
    print(f"\n{title:{width}}" + "".join(f"  {outcome:>22}" for outcome in OUTCOMES))
    for label, key in rows.items():
        print(f"{label:{width}}" + "".join(f"  {counts[key, outcome]:22}" for outcome in OUTCOMES))


if __name__ == "__main__":
    sys.exit(main())
