"""Derives a data set in this process: its experiments, then verdicts, answer and descriptions.

The rules of the Snakefile call the same functions, each in a job of its own. `replay derive --watch` and
`replay import` call them here.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from replay.claims.answer import write_answer
from replay.claims.documents import write_claims
from replay.claims.manifest import describe_data_set
from replay.derive.part import Derived, refuse_altered_tables
from replay.evidence.data_set import exclusive, named_experiments


def derive_data_set(data_set: Path, experiments: Sequence[str] = ()) -> list[Derived]:
    """Derive the named experiments, or all that have raw output, then judge the claims, answer and describe.

    Raises EvidenceError naming the missing or altered file; intact experiments are derived anyway.
    """
    from replay.derive.experiment import derive_experiments  # noqa: PLC0415 - judging does without pandas

    names = named_experiments(data_set, experiments)
    with ExitStack() as stack:
        stack.callback(judge_and_describe, data_set)
        return list(derive_experiments(data_set / name for name in names))


def judge_and_describe(data_set: Path) -> None:
    """Judge the claims, answer the question and describe the data set, even if claims or answer are invalid.

    Raises EvidenceError, and writes nothing, if a table is not what deriving wrote.
    """
    with exclusive(data_set):
        refuse_altered_tables(data_set)
    with ExitStack() as stack:
        stack.callback(describe_data_set, data_set)
        with exclusive(data_set), ExitStack() as judging:
            judging.callback(write_answer, data_set)
            write_claims(data_set)
