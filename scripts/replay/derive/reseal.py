"""`replay derive --reseal COPY`: accepts altered raw files in a copy of a data set, and stamps the copy as altered.

SHA256SUMS, and the list in each altered pack, are updated to the present files, so that the copy can be derived. The
stamp (`altered.json`, see `replay.evidence.copies`) is on disk before the first SHA256SUMS is replaced. So an interruption
leaves either a copy that derive refuses, or one that says that it is altered.
"""

from __future__ import annotations

from pathlib import Path

from replay.base.errors import ConfigurationError, EvidenceError
from replay.base.invocation import replay_command
from replay.base.tables import json_text
from replay.evidence import durable
from replay.evidence.alterations import Alterations, find_alterations
from replay.evidence.copies import ALTERED, CAMPAIGN, AlteredFile, Stamp, measured_as, read_stamp
from replay.evidence.layout import exclusive, experiments_in

SHIPPED = "tentacle"


def reseal(data_set: Path) -> list[AlteredFile]:
    """Record a copy's altered files with new digests, drop the missing ones, and stamp the copy; return these files.

    A pack may have been packed again with any `tar`. A file that was dropped earlier and has come back is listed again.
    If nothing differs, nothing is written.
    Raises ConfigurationError if this is not a copy, and EvidenceError that names a file that cannot be read, or that
    SHA256SUMS never listed.
    """
    copied_from = _origin(data_set)
    experiments = experiments_in(data_set)
    if not experiments:
        raise EvidenceError(
            "there is no raw output here", where=data_set, next_step="copy a whole data set, with its raw output"
        )
    _refuse_links(data_set, experiments)
    with exclusive(data_set):
        stamp = read_stamp(data_set) or Stamp(copied_from)
        found: list[Alterations] = []
        altered: list[AlteredFile] = []
        for name in experiments:
            prefix = f"{name}/raw/"
            known = {
                path.removeprefix(prefix): was for path, was in stamp.as_measured.items() if path.startswith(prefix)
            }
            found.append(find_alterations(data_set / name / "raw", known))
            altered += [AlteredFile(prefix + path, *digests) for path, digests in sorted(found[-1].files.items())]
        if altered:
            durable.replace(data_set / ALTERED, json_text(stamp.adding(altered).document()).encode())
        for one in found:
            one.apply()
    return altered


def _origin(data_set: Path) -> str:
    """Return the name of the data set of which this folder is a copy.

    Raises ConfigurationError if it is not a copy, and EvidenceError if there is no such folder.
    """
    if not data_set.is_dir():
        next_step = _how_to_copy(data_set.with_name(SHIPPED), data_set.name)
        raise EvidenceError("there is no such data set", where=data_set, next_step=next_step)
    origin = measured_as(data_set)
    if data_set.name in (SHIPPED, origin):
        raise ConfigurationError(
            "this is an original, not a copy, and its raw output is never edited",
            where=data_set,
            next_step=f"restore what was altered; {_how_to_copy(data_set)}",
        )
    if origin is None:
        raise ConfigurationError(
            f"there is no {CAMPAIGN} to say what this was measured as, so it may be an original",
            where=data_set,
            next_step=f"copy a whole data set, with its {CAMPAIGN}",
        )
    return origin


def _refuse_links(data_set: Path, experiments: list[str]) -> None:
    """Raise ConfigurationError if raw output is only a link: resealing it would change the original."""
    home = data_set.parent.resolve() / data_set.name
    for name in experiments:
        raw = data_set / name / "raw"
        if raw.resolve() != home / name / "raw":
            raise ConfigurationError(
                f"this is a link to {raw.resolve()}, which may be the original",
                where=raw,
                next_step=f"copy what it links to, and reseal that: cp -rL {data_set} {data_set}-altered",
            )


def _how_to_copy(original: Path, name: str = "") -> str:
    name = name or f"{original.name}-altered"
    return (
        f"alter a copy: cp -r {original} {original.with_name(name)}, alter a pack of its raw/ (see docs/deriving.md), "
        f"then: {replay_command('derive', '--reseal', name)}"
    )
