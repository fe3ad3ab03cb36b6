"""Derives one experiment: turns its evidence into tables, aggregates and its entry in the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from replay.base.errors import ReplayError
from replay.base.tables import write_if_changed
from replay.base.version import JUDGING, program_digest
from replay.derive.aggregates import of_numbers, ratios_csv, runs_csv
from replay.derive.cells import Designs, load_evidence, of_one_host
from replay.derive.designs import combine, configured_metrics, with_added
from replay.derive.entry import entry, provenance
from replay.derive.part import RATIOS, REGISTERED_FILE, RUNS_FILE, Derived, write_part
from replay.derive.series import by_entity, over_time
from replay.derive.tables import entities_csv, registered_csv, table_csv, tidy_frame, used_attempts, used_rows
from replay.evidence.data_set import exclusive
from replay.evidence.durable import sha256

#: Written only if asked for, so that its absence is no fault.
ENTITIES_FILE = "entities.csv"
#: Earlier versions wrote this file. Its columns are in tidy.csv now.
_FORMER_FACTS = "facts.csv"


def derive_experiment(directory: Path, *, entities: bool = False) -> Derived:
    """Verify `directory/raw`, and write the tables, `aggregate/` and `experiment.json` beside it if they change.

    With `entities`, also write `entities.csv` if a tool states anything about entities. Nothing is written until every
    pack and file that SHA256SUMS lists has been found unaltered.
    Raises EvidenceError that names the file that is missing, altered or invalid.
    """
    raw = directory / "raw"
    designs, loaded = load_evidence(raw, _with_metrics)
    records = of_one_host(loaded.attempts)
    last = max(records, key=lambda record: (record.ended_at, *record.key), default=None)
    design = combine(designs, loaded.receipts, (last.ended_at, last.cell_ids) if last else None)
    design.check(f"{raw}/design")
    used = used_rows(used_attempts(records, design), design)
    tidy = tidy_frame(records, design, used)
    drawn = [*of_numbers(tidy, design), *over_time(used, design), *by_entity(used, design)]
    # All of them are made before any is written, so that an error leaves every file as it was.
    texts = {
        "tidy.csv": table_csv(tidy),
        RATIOS: ratios_csv(drawn),
        REGISTERED_FILE: registered_csv(loaded.receipts),
        f"aggregate/{RUNS_FILE}": runs_csv(drawn),
        **{f"aggregate/{name}": text for aggregate in drawn for name, text in aggregate.files().items()},
        **({ENTITIES_FILE: entities_csv(records)} if entities else {}),
    }
    outputs = {name: sha256(text.encode()) for name, text in texts.items() if text and name != ENTITIES_FILE}
    described = entry(directory.name, design, records, used, tidy, drawn)
    texts = {directory / name: text for name, text in texts.items() if text}
    with exclusive(directory.parent):
        derived = Derived(
            name=directory.name,
            entry=described,
            provenance=provenance(records),
            cells=len(tidy),
            notes=tuple(note for record in records for note in record.notes),
            outputs=outputs,
            program=program_digest(*JUDGING),
            written=tuple(path for path, text in texts.items() if write_if_changed(path, text))
            + _removed(directory, texts),
        )
        write_part(directory, derived)
    return derived


def derive_experiments(directories: Iterable[Path]) -> Iterator[Derived]:
    """Derive one experiment after another, and yield each result.

    Raises the first ReplayError at the end: intact experiments are derived anyway.
    """
    failed = []
    for directory in directories:
        try:
            yield derive_experiment(directory)
        except ReplayError as error:
            failed.append(error)
    if failed:
        raise failed[0]


def _with_metrics(recorded: Designs) -> Designs:
    """Return the designs with the metrics that the configuration has gained since."""
    metrics = configured_metrics(next(iter(recorded.values())).get("experiment", ""))
    return {digest: with_added(design, metrics) for digest, design in recorded.items()}


def _removed(directory: Path, texts: dict[Path, str]) -> tuple[Path, ...]:
    """Remove what an earlier derivation wrote and this one does not; return these files."""
    former = [path for path in (directory / REGISTERED_FILE, directory / _FORMER_FACTS) if path.exists()]
    stale = sorted({*former, *(directory / "aggregate").glob("*.csv")} - texts.keys())
    for path in stale:
        path.unlink()
    return tuple(stale)
