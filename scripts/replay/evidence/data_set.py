"""A data set on disk: where its evidence is, the name it was measured under, and the JSON documents of evidence."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, EvidenceError
from replay.base.invocation import after_missing, suggestion
from replay.base.paths import benchmarks_directory
from replay.design.design import Design, canonical_json
from replay.evidence.durable import RESTORE, SUMS, locked

CAMPAIGN = "campaign.json"
MANIFEST = "manifest.json"
#: The path of a sealed block relative to `raw/`, for `str.format` with `block` (two digits or more) and `plan`.
SEALED_BLOCK = "block-{block}-{plan}.tar.gz"
_LISTED_BLOCK = re.compile(r"[0-9a-f]{64} [ *](block-\d{2,}-[0-9a-f]+\.tar\.gz)", re.ASCII)


def raw_directory(data_set: str, experiment: str) -> Path:
    """Return the folder of an experiment's evidence."""
    return benchmarks_directory() / data_set / experiment / "raw"


def experiments_in(data_set: Path) -> list[str]:
    """Return the names of the experiments that have raw output."""
    return sorted(path.parent.name for path in data_set.glob("*/raw") if path.is_dir() and any(path.iterdir()))


def named_experiments(data_set: Path, experiments: Sequence[str] = ()) -> list[str]:
    """Return the named experiments, or all that have raw output.

    Raises EvidenceError if the data set or a named experiment has no raw output.
    """
    present = experiments_in(data_set)
    if not present:
        raise EvidenceError("there is no raw output here", where=data_set, next_step=after_missing(data_set))
    for name in experiments:
        if name not in present:
            raise EvidenceError(
                f"there is no raw output of experiment {name!r}", where=data_set, next_step=suggestion(name, present)
            )
    return list(experiments) or present


def data_sets_in(benchmarks: Path) -> list[str]:
    """Return the names of the data sets that have raw output."""
    names = {path.parents[1].name for path in benchmarks.glob("*/*/raw") if any(path.iterdir())}
    return sorted(name for name in names if not name.startswith("."))  # a leading dot: it is still being written


def sealed_block(raw: Path, block: int, plan: str) -> Path:
    """Return the path of the pack of a block that is complete for a plan."""
    return raw / SEALED_BLOCK.format(block=f"{block:02d}", plan=plan)


def sealed_blocks(raw: Path) -> list[Path]:
    """Return the paths of the sealed blocks that SHA256SUMS lists, including those that are missing now."""
    try:
        lines = (raw / SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return sorted(raw / match[1] for line in lines if (match := _LISTED_BLOCK.fullmatch(line)))


def recorded_in(raw: Path) -> list[Path]:
    """Return the files that list what was recorded: SHA256SUMS of `raw/` and of its open blocks. Both may change."""
    return [path for path in [raw / SUMS, *sorted(raw.glob(f"block-*.open/{SUMS}"))] if path.exists()]


#: Locks a data set's folder while files about the whole data set are written.
exclusive = locked


def read_campaign(data_set: Path) -> dict[str, Any]:
    """Return the content of a data set's `campaign.json`; empty without that file.

    Raises EvidenceError naming the file if it is not a JSON object.
    """
    path, next_step = data_set / CAMPAIGN, "restore it, or copy the data set again"
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise EvidenceError(f"not JSON: {error}", where=path, next_step=next_step) from None
    if not isinstance(data, dict):
        raise EvidenceError("not a JSON object", where=path, next_step=next_step)
    return data


def measured_as(data_set: Path) -> str | None:
    """Return the name under which a data set was measured. A copied or renamed folder has another name.

    None if `campaign.json` is missing or does not say. Raises EvidenceError as `read_campaign` does.
    """
    name = read_campaign(data_set).get("data_set")
    return name if isinstance(name, str) and name else None


def refuse_copies(data_set: str) -> None:
    """Raise ConfigurationError if a data set was measured under another name: two campaigns must not mix."""
    folder = benchmarks_directory() / data_set
    if (origin := measured_as(folder)) not in (None, folder.name):
        raise ConfigurationError(
            f"Replay does not measure into a copy: this was measured as {origin!r}",
            where=folder / CAMPAIGN,
            next_step=f"continue with --data {origin}, or choose a new name (or rename the folder back)",
        )


def refuse_mixed_scales(data_set: str, design: Design) -> None:
    """Raise ConfigurationError if the data set holds this experiment at another scale.

    A quick cell and a talk cell of the same point have different durations, so a median over both means nothing.
    """
    for path in sorted(raw_directory(data_set, design.name).glob("design-*.json")):
        recorded = parse_json(str(path), path.read_bytes())
        scale = recorded["scale"]
        # A design without cells only says that everything was skipped.
        if scale != design.scale and recorded["cells"]:
            raise ConfigurationError(
                f"this data set contains {design.name} at scale {scale}, not {design.scale}",
                where=path.parent.parent,
                next_step=f"measure into another data set, for example --data {data_set}-{design.scale}",
            )


def pretty_json(value: Any) -> bytes:
    """Return JSON for people: sorted keys, one entry a line, a final newline."""
    return (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False) + "\n").encode()


def design_file(public: Mapping[str, Any], digest: str) -> tuple[str, bytes]:
    """Return the name and content of the file that records a design."""
    return f"design-{digest}.json", (canonical_json(public) + "\n").encode()


def plain(path: str, content: bytes) -> bytes:
    """Return stored content, decompressed if the path ends in `.gz`. Raises EvidenceError if it is not gzip."""
    if not path.endswith(".gz"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise EvidenceError(f"not a gzip file: {error}", where=path, next_step=RESTORE) from None


def parse_json(path: str, content: bytes) -> dict[str, Any]:
    """Return the JSON object in a file. Raises EvidenceError unless it is an object of schema version 1."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"not JSON: {error}", where=path, next_step=RESTORE) from None
    if not isinstance(data, dict) or data.get("schema_version") != 1:
        raise EvidenceError(
            "not an object of schema_version 1", where=path, next_step="use the version of Replay that wrote it"
        )
    return data
