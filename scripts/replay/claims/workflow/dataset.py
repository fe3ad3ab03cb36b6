"""Derives a data set in this process, without Snakemake: the same steps in the same order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from replay.base.did_you_mean import after_missing, suggestion
from replay.base.errors import EvidenceError, ReplayError
from replay.claims.workflow import steps
from replay.derive.part import PART, Derived
from replay.evidence.layout import experiments_in


def derive_data_set(
    data_set: Path,
    experiments: Sequence[str] = (),
    *,
    entities: bool = False,
    known: Mapping[str, Derived] | None = None,
    begins: Callable[[str], None] = lambda _: None,
    ended: Callable[[Derived], None] = lambda _: None,
) -> list[Derived]:
    """Derive the named experiments, or all that have raw output, then judge the claims, and answer and describe.

    With `entities`, also writes entities.csv. `known` are results that were just found to be current.
    `begins` is called with the name of the next step, and `ended` with the result of each experiment.
    Raises EvidenceError naming the missing or altered file; intact experiments are derived anyway.
    """
    derived, failed = [], []
    for name in wanted(data_set, experiments):
        begins(name)
        try:
            one = (known or {}).get(name) or steps.derive_experiment(
                data_set / name, entities=entities and name in (experiments or [name])
            )
        except ReplayError as error:
            failed.append(error)
        else:
            derived.append(one)
            ended(one)
    begins("claims and descriptions")
    finish(data_set)
    if failed:
        raise failed[0]
    return derived


def wanted(data_set: Path, experiments: Sequence[str] = ()) -> list[str]:
    """Return the named experiments, or all that have raw output, and the experiments never derived here.

    Raises EvidenceError if the data set or an experiment has no raw output.
    """
    present = experiments_in(data_set)
    if not present:
        raise EvidenceError("there is no raw output here", where=data_set, next_step=after_missing(data_set))
    for name in experiments:
        if name not in present:
            raise EvidenceError(
                f"there is no raw output of experiment {name!r}", where=data_set, next_step=suggestion(name, present)
            )
    named = list(experiments) or present
    return [*named, *(name for name in present if name not in named and not (data_set / name / PART).exists())]


def finish(data_set: Path) -> None:
    """Judge the claims, answer the question and describe the data set, even if claims or answer are invalid."""
    with ExitStack() as stack:
        stack.callback(steps.describe, data_set)
        stack.callback(steps.answer, data_set)
        steps.judge_claims(data_set)
