"""The steps from raw output to the deck's files: derive each experiment, judge the claims, answer, describe.

The Snakefile's rules run these functions, and so does deriving without Snakemake. A step does nothing if it would
change nothing. It imports what it needs when it runs, so a step that is not due does not import pandas.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from replay.base.errors import EvidenceError, ReplayError
from replay.claims.workflow.notes import ANSWERING, DESCRIBING, JUDGING
from replay.derive.part import Derived, current_part
from replay.design.talk_files import answer_path, claims_path
from replay.evidence.copies import ALTERED, read_stamp
from replay.evidence.layout import exclusive

if TYPE_CHECKING:
    from replay.derive.cells import Cache


def derive_experiment(directory: Path, cache: Cache | None = None, *, entities: bool = False) -> Derived:
    """Derive an experiment, unless none of its inputs and outputs has changed.

    With `entities`, or with a `cache` of files read and verified before, always derive it.
    Raises EvidenceError naming a missing or altered raw file. For an altered copy from which nothing can be derived, it
    names the altered files.
    """
    with explained(directory.parent, directory.name):
        if cache is None and not entities and (known := current_part(directory)):
            return known
        from replay.derive import experiment  # noqa: PLC0415 - see above

        if read_stamp(directory.parent):
            from replay.claims.manifest import mark_altered  # noqa: PLC0415

            mark_altered(directory.parent)
        return experiment.derive_experiment(directory, cache, entities=entities)


def judge_claims(data_set: Path) -> None:
    """Write claims.json and claims.csv from the experiments' tables. A talk without claims has none."""
    if not claims_path().exists() or JUDGING.is_current(data_set):
        return
    from replay.claims.documents import write_claims  # noqa: PLC0415 - see above

    with explained(data_set), exclusive(data_set):
        sources = JUDGING.sources(data_set)
        write_claims(data_set)
        JUDGING.write_note(data_set, sources)


def answer(data_set: Path) -> None:
    """Write answer.csv from the experiments' tables. A talk without config/answer.yaml has none."""
    if not answer_path().exists() or ANSWERING.is_current(data_set):
        return
    from replay.claims.answer import answer as write_answer  # noqa: PLC0415 - see above

    with explained(data_set), exclusive(data_set):
        sources = ANSWERING.sources(data_set)
        write_answer(data_set)
        ANSWERING.write_note(data_set, sources)


def describe(data_set: Path) -> None:
    """Write the manifest, recording.json, releases.json and the data package from the derived tables and verdicts."""
    if DESCRIBING.is_current(data_set):
        return
    from replay.claims.manifest import describe_data_set  # noqa: PLC0415 - see above

    sources = DESCRIBING.sources(data_set)
    with explained(data_set):
        describe_data_set(data_set)
    DESCRIBING.write_note(data_set, sources)


@contextmanager
def explained(data_set: Path, experiment: str | None = None) -> Iterator[None]:
    """Turn an exception caused by altered raw files into an EvidenceError that names them.

    If no file was altered, the exception is a bug in Replay and is passed on unchanged.
    """
    try:
        yield
    except ReplayError:
        raise
    except Exception as error:
        stamp = read_stamp(data_set)
        paths = [path for path in stamp.paths if experiment in (None, path.partition("/")[0])] if stamp else []
        if not paths:
            raise
        more = f" and {len(paths) - 5} more in {ALTERED}" if len(paths) > 5 else ""
        raise EvidenceError(
            f"the altered files make no sense: {type(error).__name__}: {error}",
            where=data_set / (paths[0] if len(paths) == 1 else ALTERED),
            next_step=f"correct or restore these files: {', '.join(paths[:5])}{more}; then reseal again",
        ) from error
