"""A data set: its experiments, each in a process of its own, then the files that speak of all of them."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from replay.base.data_sets import after_missing
from replay.base.did_you_mean import suggestion
from replay.base.errors import ConfigurationError, EvidenceError, ReplayError
from replay.claims import claims_path
from replay.claims.files import write_claims
from replay.claims.load import load_book
from replay.claims.model import Book
from replay.derive.cells import Cache
from replay.derive.datapackage import write_datapackage
from replay.derive.experiment import Derived, derive_experiment
from replay.derive.manifest import exclusive, experiments_in, missing_entries, write_manifest
from replay.derive.recording import write_recording
from replay.raw.copies import ALTERED, read_stamp


@dataclass(frozen=True)
class _Failure:
    """An error that crosses from a worker: exceptions with keyword arguments do not survive pickling."""

    what: str
    where: str | None
    next_step: str
    exit_status: int


def derive_data_set(data_set: Path, experiments: Sequence[str] = (), *, entities: bool = False) -> list[Derived]:
    """Derive the named experiments, or all that have raw output, then manifest.json and datapackage.json.

    With `entities`, their entities.csv as well.
    Raises EvidenceError naming the file that is missing or altered; the experiments that are whole are derived anyway.
    In an altered copy it also names what was altered where nothing can be derived from that.
    """
    stamp = read_stamp(data_set)
    present = experiments_in(data_set)
    if not present:
        raise EvidenceError("no raw output here", where=data_set, next_step=after_missing(data_set))
    for name in experiments:
        if name not in present:
            raise EvidenceError(
                f"no experiment {name!r} with raw output", where=data_set, next_step=suggestion(name, present)
            )
    if stamp:
        with exclusive(data_set):
            write_manifest(data_set, ())  # says so before the first table changes, whatever cuts this short
    wanted = list(experiments) or present
    wanted += [name for name in missing_entries(data_set) if name not in wanted]
    results = _in_processes([data_set / name for name in wanted], partial(_guarded, entities=entities))
    derived = [one for one in results if isinstance(one, Derived)]
    with _explained(data_set):
        finish(data_set, derived)
    for one in results:
        if isinstance(one, _Failure):
            error = ReplayError(one.what, where=one.where, next_step=one.next_step)
            error.exit_status = one.exit_status
            raise error
    return derived


def finish(data_set: Path, derived: Sequence[Derived]) -> None:
    """Write what speaks of the whole data set, from these experiments' parts and what is there of the others."""
    with exclusive(data_set):
        book = _book()
        write_manifest(data_set, derived, book.claims if book else ())
        write_claims(data_set, book)
        write_recording(data_set)
        write_datapackage(data_set)


def _book() -> Book | None:
    """Return the talk's claims. None where it makes none, or where they make no sense: writing verdicts says so."""
    try:
        return load_book() if claims_path().exists() else None
    except ConfigurationError:
        return None


@contextmanager
def _explained(data_set: Path, experiment: str | None = None) -> Iterator[None]:
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


def _in_processes(directories: list[Path], derive: Callable[[Path], Derived | _Failure]) -> list[Derived | _Failure]:
    if len(directories) == 1:
        return [derive(directories[0])]
    # Forked: what took most of the time, importing pandas, is shared.
    context = multiprocessing.get_context("fork")
    with context.Pool(min(len(directories), context.cpu_count())) as pool:
        return pool.map(derive, directories, chunksize=1)


def _guarded(directory: Path, *, entities: bool) -> Derived | _Failure:
    try:
        with _explained(directory.parent, directory.name):
            return derive_experiment(directory, Cache(), entities=entities)
    except ReplayError as error:
        return _Failure(error.what, error.where, error.next_step, error.exit_status)
