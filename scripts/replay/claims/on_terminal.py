"""The verdicts on a terminal: the same words as in a pipe, in columns that fit its width."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from replay.base.terminal import print_columns
from replay.claims.model import Assessment
from replay.claims.output import NO_CLAIM, VERDICT_WIDTH, altered_line, heading_of

_STYLES = {"held": "green", "refuted": "bold red", "inconclusive": "yellow"}


def print_assessment(assessment: Assessment, console: Console) -> None:
    """Print each claim: its verdict, its sentence, and the reason below."""
    for line in altered_line(assessment):
        console.print(Text(line, "bold red"), soft_wrap=True)
    rows = [
        (
            Text(one.verdict.upper(), _STYLES.get(one.verdict, "dim")),
            Text.assemble(heading_of(one), "\n", (one.reason, "dim")),
        )
        for one in assessment.judgements
    ]
    if rows:
        print_columns(console, rows, widths=(VERDICT_WIDTH,))
    else:
        console.print(NO_CLAIM)
