"""`replay report`: reads one data set, and writes what it says about mirroring as one page."""

from __future__ import annotations

import argparse

from replay.base.errors import EvidenceError
from replay.base.invocation import replay_command
from replay.base.paths import benchmarks_directory, version
from replay.base.terminal import waiting
from replay.exchange.page import style_sheet, write_page
from replay.exchange.report.page import page, parts_of
from replay.exchange.report.read import read_data_set


def run(options: argparse.Namespace) -> int:
    """Write the page, and print what it says first; return 0. Raises ReplayError if that is not possible."""
    with waiting(f"reading {options.data}"):
        data = read_data_set(benchmarks_directory(), options.data)
    if not data.experiments:
        raise EvidenceError(
            "no run of this data set counts, so there is nothing to report",
            where=benchmarks_directory() / options.data,
            next_step=f"see which attempts are invalid, and why: {replay_command('raw', 'ls', '--data', options.data)}",
        )
    parts = parts_of(data)
    write_page(options.out, page(data, parts, style_sheet(), version()))
    for part in parts:
        if part.headline:
            print(f"- {part.headline}")
    print(f"wrote {options.out}: one page that opens anywhere")
    return 0
