"""Prints the verdicts on a terminal: the same words as in a pipe, in columns that fit its width."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from replay.base.terminal import print_columns
from replay.claims.model import Assessment, Judgement
from replay.claims.output import (
    NO_CLAIM,
    SETUP_CHECKS,
    VERDICT_WIDTH,
    altered_line,
    heading_of,
    summary_lines,
)

_STYLES = {"held": "green", "refuted": "bold red", "inconclusive": "yellow"}


def print_assessment(assessment: Assessment, console: Console) -> None:
    """Print each claim: its verdict, its sentence, and the reason below it."""
    for line in altered_line(assessment):
        console.print(Text(line, "bold red"), soft_wrap=True)
    if not assessment.judgements:
        console.print(NO_CLAIM)
    for part, several in enumerate((assessment.claims, assessment.setup_checks)):
        if part and several:
            console.print(f"\n{SETUP_CHECKS}", soft_wrap=True)
        _print(several, console)
    for line in summary_lines(assessment):
        console.print(Text(line, "dim"))


def _print(judgements: Sequence[Judgement], console: Console) -> None:
    rows = [
        (
            Text(one.verdict.upper(), _STYLES.get(one.verdict, "dim")),
            Text.assemble(heading_of(one), "\n", (one.reason, "dim")),
        )
        for one in judgements
    ]
    if rows:
        print_columns(console, rows, widths=(VERDICT_WIDTH,))
