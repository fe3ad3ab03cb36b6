"""`replay compare`: reads data sets, compares them, and writes the result."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from replay.base.errors import ConfigurationError
from replay.base.paths import benchmarks_directory
from replay.base.tables import json_text
from replay.base.terminal import waiting
from replay.base.version import version
from replay.exchange.compare.match import Pair, at_levels, compare_sides, paired_up, wanted_of
from replay.exchange.compare.model import Outcome
from replay.exchange.compare.output import Checked, check, document, ratio_text, summary_lines
from replay.exchange.compare.page import page
from replay.exchange.compare.read import read_side
from replay.exchange.page import style_sheet, write_page


def run(options: argparse.Namespace) -> int:
    """Compare; return 1 if a condition is met, else 0. Raises ReplayError if something cannot be read or written."""
    names = [options.first, *options.others]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"{name} is named twice", next_step="compare different data sets, or variants")
    outcome = _compared(names, options.experiment, options.only)
    checked = [check(one, outcome.comparisons) for one in options.fail_if]
    if options.out:
        write_page(options.out, page(outcome, checked, style_sheet(), version()))
    if options.json:
        print(json_text(document(outcome, checked)), end="")
    else:
        print("\n".join(summary_lines(outcome)))
        if options.out:
            print(f"wrote {options.out}: one page that opens anywhere")
    return _said(checked)


def _compared(names: Sequence[str], pairs: Sequence[Pair], levels: Sequence[str]) -> Outcome:
    with waiting(f"comparing {', '.join(names)}"):
        sides = [
            read_side(benchmarks_directory(), name, wanted_of(pairs, first=not number))
            for number, name in enumerate(names)
        ]
        return compare_sides(at_levels(paired_up(sides, pairs), levels))


def _said(checked: Sequence[Checked]) -> int:
    """Say which conditions are met, and where; return the exit status."""
    for one in checked:
        for hit in one.met:
            place = f"{hit.second}: {hit.experiment} {hit.metric.name}, {hit.variant}, {hit.point}"
            print(f"--fail-if '{one.text}' is met by {place}: {ratio_text(hit)}", file=sys.stderr)
        if one.undecided:
            points = "1 point has" if one.undecided == 1 else f"{one.undecided} points have"
            print(f"--fail-if '{one.text}': {points} no interval, and could not be decided", file=sys.stderr)
    return 1 if any(one.met for one in checked) else 0
