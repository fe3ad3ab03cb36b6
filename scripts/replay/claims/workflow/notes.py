"""Notes of what the steps for a whole data set read and wrote, and which steps have nothing to do.

`replay derive` and the Snakefile both ask here. They decide by content, never by a file's time, so that what one of
them has done is done for the other. An experiment has its own note, `derived.json` (`derive/part.py`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from replay.base.paths import config_directory
from replay.base.releases import COMPARED_RELEASES, older_releases
from replay.base.tables import json_text, write_if_changed
from replay.derive.part import PART, REGISTERED_FILE, digest_of_file, program_digest
from replay.design.talk_files import answer_path, claims_path
from replay.evidence.layout import experiments_in

#: Notes of this checkout, which git ignores.
CLAIMS_NOTE, ANSWER_NOTE, DESCRIPTION_NOTE = "judged.json", "answered.json", "described.json"
JUDGED = ("claims.json", "claims.csv")
ANSWERED = ("answer.csv",)
DESCRIBED = ("manifest.json", "recording.json", "datapackage.json")
_ORIGIN = ("campaign.json", "altered.json")
_SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Step:
    """A step for a whole data set: the file of its note, what it writes, and patterns of what it reads there."""

    note: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    #: Patterns of what it reads in the data sets of older releases, if there are any.
    of_older_releases: tuple[str, ...] = ()

    def sources(self, data_set: Path) -> dict[str, str]:
        """Return the digests of everything that the step reads, by path."""
        there = sorted({path for pattern in self.inputs for path in data_set.glob(pattern)})
        older = older_releases(data_set) if self.of_older_releases else []
        beside = sorted({path for one in older for pattern in self.of_older_releases for path in one.glob(pattern)})
        configured = [claims_path(), answer_path(), *sorted((config_directory() / "experiments").glob("*.yaml"))]
        return {
            "program": program_digest("claims", "answer", "describe"),
            "experiments": " ".join(experiments_in(data_set)),
            **{path.relative_to(data_set).as_posix(): digest_of_file(path) for path in there},
            **{f"../{path.relative_to(data_set.parent).as_posix()}": digest_of_file(path) for path in beside},
            **{f"config/{path.name}": digest_of_file(path) for path in configured},
        }

    def is_current(self, data_set: Path) -> bool:
        """Return whether running the step would change nothing."""
        try:
            note = json.loads((data_set / self.note).read_bytes())
        except (FileNotFoundError, ValueError):
            return False
        return note == _note(self.sources(data_set), self._found(data_set))

    def state(self, data_set: Path) -> str:
        """Return a digest of what the step reads and of what it wrote, as they are now."""
        found = _note(self.sources(data_set), self._found(data_set))
        return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()

    def write_note(self, data_set: Path, sources: Mapping[str, str]) -> None:
        """Note that the step ran on these sources, and what it wrote."""
        write_if_changed(data_set / self.note, json_text(_note(sources, self._found(data_set))))

    def _found(self, data_set: Path) -> dict[str, str]:
        return {name: digest_of_file(data_set / name) for name in self.outputs}


#: The files that are read of each experiment; not every experiment has the second one.
_TABLES = ("*/tidy.csv", f"*/{REGISTERED_FILE}")
JUDGING = Step(CLAIMS_NOTE, JUDGED, (*_TABLES, *_ORIGIN))
ANSWERING = Step(ANSWER_NOTE, ANSWERED, (*_TABLES, *_ORIGIN))
DESCRIBING = Step(
    DESCRIPTION_NOTE,
    (*DESCRIBED, COMPARED_RELEASES),
    (*_TABLES, "*/aggregate/*.csv", f"*/{PART}", *JUDGED, *ANSWERED, *_ORIGIN),
    of_older_releases=(*_TABLES, "manifest.json"),
)


def _note(sources: Mapping[str, str], outputs: Mapping[str, str]) -> dict[str, object]:
    return {"schema_version": _SCHEMA_VERSION, "sources": dict(sources), "outputs": dict(outputs)}
