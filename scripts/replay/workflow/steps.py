"""The steps from raw output to what the deck reads. The Snakefile's rules run these functions, and so does whoever
derives without Snakemake: derive each experiment, judge the claims, describe the data set.

What a step needs is imported when it runs: an experiment that is not due costs no import of pandas.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from replay.base.errors import EvidenceError, ReplayError
from replay.derive.part import Derived, current_part
from replay.raw.copies import ALTERED, read_stamp
from replay.raw.layout import exclusive

if TYPE_CHECKING:
    from replay.derive.cells import Cache


def derive_experiment(directory: Path, cache: Cache | None = None, *, entities: bool = False) -> Derived:
    """Derive an experiment, unless nothing that it reads or writes has changed.

    With `entities`, or with a `cache` of what was read and verified before, it is always derived.
    Raises EvidenceError naming a raw file that is missing or altered; in an altered copy it also names what was altered
    where nothing can be derived from that.
    """
    with explained(directory.parent, directory.name):
        if cache is None and not entities and (known := current_part(directory)):
            return known
        from replay.derive import experiment  # noqa: PLC0415 - see above

        if read_stamp(directory.parent):
            from replay.describe.data_set import mark_altered  # noqa: PLC0415

            mark_altered(directory.parent)
        return experiment.derive_experiment(directory, cache, entities=entities)


def judge_claims(data_set: Path) -> None:
    """Write claims.json and claims.csv from the experiments' tables."""
    from replay.claims.files import write_claims  # noqa: PLC0415

    with explained(data_set), exclusive(data_set):
        write_claims(data_set)


def describe(data_set: Path) -> None:
    """Write manifest.json, recording.json and datapackage.json from what was derived and judged."""
    from replay.describe.data_set import describe_data_set  # noqa: PLC0415

    with explained(data_set):
        describe_data_set(data_set)


@contextmanager
def explained(data_set: Path, experiment: str | None = None) -> Iterator[None]:
    """Turn an exception over altered raw files into an EvidenceError that names them.

    Where nothing was altered an exception is a mistake of Replay's, and stays what it is.
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
            f"what was altered makes no sense: {type(error).__name__}: {error}",
            where=data_set / (paths[0] if len(paths) == 1 else ALTERED),
            next_step=f"mend or restore what is wrong among {', '.join(paths[:5])}{more}; then reseal again",
        ) from error
