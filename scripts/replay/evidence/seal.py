"""Seals an open block into a pack, and cleans up after a run that was stopped at any point.

Sealing takes five steps, and each is on disk before the next begins: write the pack under a working name; give it its
name; list it in SHA256SUMS; move the open block aside; remove it. Until the pack is listed, the open block counts; from
then on, the pack does.
"""

from __future__ import annotations

import re
from pathlib import Path

from replay.base.clock import utc_now
from replay.base.errors import EvidenceError
from replay.evidence import durable
from replay.evidence.data_set import PACK, pack_name, pretty_json, verified_members, write_pack
from replay.evidence.durable import SUMS, Store, add_sums, locked, read_sums
from replay.evidence.read import ATTEMPT, OPEN, RECEIPT, SEAL, list_open, read_file

_ASIDE = re.compile(r"\.(?P<pack>block-\d{2,}-[0-9a-f]{12})\.sealed", re.ASCII)


def seal(raw: Path, block: int, plan: str) -> Path:
    """Pack an open block that has the receipt for `plan`, list the pack, remove the block; return the pack's path.

    Raises EvidenceError naming a file of the block that is altered, missing or not listed, or a pack of that name with
    other content.
    """
    name = pack_name(block, plan)
    pack, opened = raw / name, raw / f"block-{block:02d}.open"
    list_open(str(raw), opened.name)  # refuses unrecorded files, which would be removed with the block
    sums = read_sums(opened)
    if name not in read_sums(raw) or not pack.exists():
        _refuse_other_content(pack, sums)
        working = durable.working_name(pack)
        digest = write_pack(working, sums, lambda path: read_file(f"{opened}/{path}"), f"{opened}/")
        with locked(raw):
            durable.put_in_place(working, pack)
            add_sums(raw, {name: digest})
    _refuse_other_content(pack, sums)
    aside = raw / f".{name.removesuffix('.tar.gz')}.sealed"
    with locked(raw):
        durable.put_in_place(opened, aside)
    durable.remove_tree(aside)
    durable.sync_directory(raw)
    return pack


def recover(raw: Path) -> list[str]:
    """Finish what an earlier run left; return a sentence for each interrupted attempt, and for each pack.

    Interrupted attempts are sealed as `interrupted` and kept, listed records get their final names, and complete blocks
    are packed. Call it only while no other run measures. Raises EvidenceError naming a file that is altered, missing or
    not listed.
    """
    sentences: list[str] = []
    if not raw.is_dir():
        return sentences
    for path in sorted(raw.iterdir()):
        if match := _ASIDE.fullmatch(path.name):
            _finish_removal(raw, path, f"{match['pack']}.tar.gz")
    store = Store(raw, raw)
    for working in list(durable.unfinished(raw)):
        if working.parent == raw:
            _finish_record(store, working)
    for opened in sorted(path for path in raw.iterdir() if OPEN.fullmatch(path.name)):
        sentences += _recover_block(raw, opened)
    return sentences


def _recover_block(raw: Path, opened: Path) -> list[str]:
    sentences = []
    store = Store(opened, raw)
    for working in list(durable.unfinished(opened)):
        name = durable.finished_name(working).relative_to(opened).as_posix()
        if (match := ATTEMPT.fullmatch(name)) and not store.is_listed(working):
            if not (working / SEAL).exists():
                durable.replace(working / SEAL, pretty_json(_interrupted(raw.parent.name, **match.groupdict())))
                sentences.append(
                    f"attempt {match['number']} of {match['point']} was interrupted; it is kept, and its set runs again"
                )
            store.finish_folder(name)
        else:
            _finish_record(store, working)
    if not (opened / SUMS).exists():
        durable.remove_tree(opened)  # only folders: nothing was ever recorded
        return sentences
    for path in read_sums(opened):
        if match := RECEIPT.fullmatch(path):
            block = int(OPEN.fullmatch(opened.name)["block"])
            sentences.append(f"sealed {seal(raw, block, match['plan']).name}, which was complete")
            break
    return sentences


def _finish_record(store: Store, working: Path) -> None:
    """Give a listed record its final name; remove one that was interrupted before, since nothing relies on it."""
    if store.is_listed(working):
        store.give_name(working)
    else:
        durable.remove_tree(working)
        durable.sync_directory(working.parent)


def _finish_removal(raw: Path, aside: Path, name: str) -> None:
    """Finish removing an open block that was moved aside; move it back if its pack is missing after all."""
    if name in read_sums(raw) and (raw / name).exists():
        durable.remove_tree(aside)
        durable.sync_directory(raw)
    else:
        durable.put_in_place(aside, raw / f"block-{PACK.fullmatch(name)['block']}.open")


def _refuse_other_content(pack: Path, sums: dict[str, str]) -> None:
    """Raise EvidenceError if a pack of that name exists and its files differ from those of the open block."""
    if not pack.exists():
        return
    inside = {name: digest for name, _, digest in verified_members(pack.read_bytes(), str(pack))}
    if inside != sums:
        name = min(path for path in {*inside, *sums} if inside.get(path) != sums.get(path))
        raise EvidenceError(
            "this pack exists already and differs from the open block beside it",
            where=f"{pack}:{name}",
            next_step="move one of the two out of the data set, and measure again",
        )


def _interrupted(experiment: str, block: str, point: str, number: str) -> dict[str, object]:
    """Return the seal of an interrupted attempt."""
    return {
        "schema_version": 1,
        "experiment": experiment,
        "block": int(block),
        "point": point,
        "attempt": int(number),
        "status": "interrupted",
        "valid": False,
        "invalid": [{"variant": None, "reason": "interrupted", "detail": "the run ended before the set did"}],
        "order": [],
        "seed": None,
        "set_index": None,
        "started_at": None,
        "ended_at": utc_now(),
    }
