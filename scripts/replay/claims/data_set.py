"""Derives a data set in this process: its experiments, then verdicts, answer and descriptions.

The rules of the Snakefile call the same functions, each in a job of its own. `replay derive --watch` and
`replay import` call them here.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from replay.base.errors import ReplayError
from replay.claims.answer import write_answer
from replay.claims.documents import write_claims
from replay.claims.manifest import describe_data_set
from replay.derive.experiment import derive_experiment
from replay.derive.part import Derived, refuse_altered_tables
from replay.evidence.data_set import exclusive, named_experiments


def derive_data_set(data_set: Path, experiments: Sequence[str] = ()) -> list[Derived]:
    """Derive the named experiments, or all that have raw output, then judge the claims, answer and describe.

    Raises EvidenceError naming the missing or altered file; intact experiments are derived anyway.
    """
    derived, failed = [], []
    for name in named_experiments(data_set, experiments):
        try:
            derived.append(derive_experiment(data_set / name))
        except ReplayError as error:
            failed.append(error)
    finish(data_set)
    if failed:
        raise failed[0]
    return derived


def finish(data_set: Path) -> None:
    """Judge the claims, answer the question and describe the data set, even if claims or answer are invalid."""
    with ExitStack() as stack:
        stack.callback(describe, data_set)
        stack.callback(answer, data_set)
        judge(data_set)


def judge(data_set: Path) -> None:
    """Write claims.json and claims.csv from the experiments' tables. A talk without claims has none."""
    with exclusive(data_set):
        refuse_altered_tables(data_set)
        write_claims(data_set)


def answer(data_set: Path) -> None:
    """Write answer.csv from the experiments' tables. A talk without config/answer.yaml has none."""
    with exclusive(data_set):
        refuse_altered_tables(data_set)
        write_answer(data_set)


def describe(data_set: Path) -> None:
    """Write the manifest, recording.json, releases.json and the data package from the derived tables and verdicts."""
    with exclusive(data_set):
        refuse_altered_tables(data_set)
    describe_data_set(data_set)
