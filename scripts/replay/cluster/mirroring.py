"""Asks a mirror daemon and a mirrored journal how far replay is, and waits until it has caught up.

`rbd mirror image status` lags by up to half a minute and says "0 behind" while entries are still replayed. The daemon's
admin socket is live, a journal knows what its peers have replayed, five seconds late at most
(`rbd_mirror_journal_commit_age`), and a snapshot's `complete` flag on the other side is exact: waits use these.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from replay.base.errors import ReplayError
from replay.cluster.cluster import CephCommandError, Cluster, NoAnswerError, ask, unless_gone
from replay.cluster.site import Site
from replay.evidence.record import Wait

#: A mirror daemon's setting: after how many seconds it looks again at a journal in which it found nothing.
POLL_AGE = "rbd_mirror_journal_poll_age"


class ReplayCounters(NamedTuple):
    """What the daemon has replayed of one image since it started: journal entries, snapshots, and the bytes of each."""

    entries: int = 0
    entry_bytes: int = 0
    snapshots: int = 0
    snapshot_bytes: int = 0


@dataclass(frozen=True)
class ImageCounters:
    """An image's counters as the daemon reports them, by their names in 16.2: those of its journal and its snapshots.

    A counter with several parts is a dictionary. Both are empty if the daemon does not know the image (yet).
    """

    journal: Mapping[str, Any]
    snapshot: Mapping[str, Any]

    def totals(self) -> ReplayCounters:
        """Return how far the image is; zeros if the daemon does not count it."""
        return ReplayCounters(
            entries=int(self.journal.get("replay", 0)),
            entry_bytes=int(self.journal.get("replay_bytes", 0)),
            snapshots=int(self.snapshot.get("snapshots", 0)),
            snapshot_bytes=int(self.snapshot.get("replay_bytes", 0)),
        )


# 16.2 counts a snapshot's bytes under the name of a journal's. Evidence uses these names for every release.
_JOURNAL_NAMES = {
    "replay": "replay", "entries": "replay", "replay_bytes": "replay_bytes", "replay_latency": "replay_latency",
}  # fmt: skip
_SNAPSHOT_NAMES = {
    "snapshots": "snapshots",
    "snapshots_time": "snapshots_time", "sync_time": "snapshots_time",
    "replay_bytes": "replay_bytes", "snapshots_bytes": "replay_bytes", "sync_bytes": "replay_bytes",
}  # fmt: skip


def counters_of(dump: Mapping[str, Any], pool: str, image: str) -> ImageCounters:
    """Return an image's counters from the daemon's `counter dump`, or from its `perf dump` before 18.

    The first has a list for each section, with pool and image as labels; the second has them in the sections' names.
    """
    journal: dict[str, Any] = {}
    snapshot: dict[str, Any] = {}
    for name, section in dump.items():
        for counters in _counters_in(name, section, pool, image):
            if name.startswith("rbd_mirror_snapshot_image"):
                snapshot = {_SNAPSHOT_NAMES[key]: value for key, value in counters.items() if key in _SNAPSHOT_NAMES}
            elif name.startswith(("rbd_mirror_image_", "rbd_mirror_journal_image")):
                journal = {_JOURNAL_NAMES[key]: value for key, value in counters.items() if key in _JOURNAL_NAMES}
    return ImageCounters(journal, snapshot)


def _counters_in(name: str, section: Any, pool: str, image: str) -> list[Mapping[str, Any]]:
    """Return a section's counters of an image."""
    if isinstance(section, Mapping):
        return [section] if name.endswith(f"{pool}/{image}") else []
    return [
        each["counters"]
        for each in section
        if (labels := each.get("labels", {})).get("image") == image
        and "/".join(filter(None, (labels.get("pool"), labels.get("namespace")))) == pool
    ]


class MirrorDaemon:
    """The rbd-mirror daemon of the second cluster, through its admin socket."""

    def __init__(self, admin_socket: Path, pool: str, ask: Callable[..., Any] = ask) -> None:
        """`pool` is `pool[/namespace]`."""
        self.admin_socket = admin_socket
        self.pool = pool
        self._ask = ask
        self._question: str | None = None

    @classmethod
    def named_by(cls, site: Site) -> MirrorDaemon | None:
        """Return the daemon whose admin socket a site names, None if it names none."""
        second = site.second_site
        if second is None or second.mirror_daemon_admin_socket is None:
            return None
        return cls(second.mirror_daemon_admin_socket, site.pools.data.spec)

    @classmethod
    def of(cls, site: Site) -> MirrorDaemon:
        """Return the daemon whose admin socket a site names. Raises ReplayError if it names none."""
        if (daemon := cls.named_by(site)) is None:
            raise ReplayError(
                "no admin socket of the mirror daemon is named, so Replay cannot tell what it does",
                where=f"config/sites/{site.name}.yaml",
                next_step="name second_cluster.mirror_daemon_admin_socket",
            )
        return daemon

    def _answer(self, command: dict[str, Any] | str, *, within_seconds: float) -> Any:
        """Return the daemon's answer. Raises AdminSocketError, and calls the daemon what it is if it is silent."""
        try:
            return self._ask(self.admin_socket, command, timeout_seconds=within_seconds)
        except NoAnswerError as error:
            raise NoAnswerError(
                f"the mirror daemon does not answer ({error.what})",
                where=error.where,
                next_step="start it on its host (with systemd: systemctl start ceph-rbd-mirror.target) and try again",
            ) from error

    def counters(self, image: str) -> ReplayCounters:
        """Return how far the image is now. Raises ReplayError if the daemon does not answer."""
        return self.image_counters([image])[image].totals()

    def image_counters(self, images: Iterable[str]) -> dict[str, ImageCounters]:
        """Return the counters of images, by name, all read at one moment. Raises ReplayError without an answer."""
        if self._question is None:
            known = self._answer("help", within_seconds=10)
            self._question = "counter dump" if "counter dump" in known else "perf dump"
        dump = self._answer(self._question, within_seconds=10)
        return {image: counters_of(dump, self.pool, image) for image in images}

    def alive(self) -> None:
        """Raise AdminSocketError if the daemon does not answer within a few seconds."""
        self._answer("version", within_seconds=3)

    def option(self, name: str) -> float:
        """Return the daemon's value of an option that is a number. Raises ReplayError if it does not answer."""
        return float(self._answer({"prefix": "config get", "var": name}, within_seconds=10)[name])

    def state(self, image: str) -> str | None:
        """Return the state of the image's replayer (`Replaying`, `Starting`, …), None if there is none yet."""
        status = self._answer("rbd mirror status", within_seconds=10)
        for replayer in _image_replayers(status):
            if replayer.get("name") == f"{self.pool}/{image}":
                return replayer.get("state")
        return None

    def stop(self, image: str) -> None:
        """Tell the daemon to stop replaying an image until `start`; it does so in its own time (`state`)."""
        self._answer(f"rbd mirror stop {self.pool}/{image}", within_seconds=30)

    def start(self, image: str) -> None:
        """Tell the daemon to replay an image again. Raises AdminSocketError if it declines."""
        self._answer(f"rbd mirror start {self.pool}/{image}", within_seconds=30)


def _image_replayers(status: Any) -> list[dict[str, Any]]:
    """Return every image replayer in the daemon's status, whose shape differs by release."""
    if isinstance(status, dict):
        replayers = list(status.get("image_replayers", []))
        return replayers + [replayer for value in status.values() for replayer in _image_replayers(value)]
    if isinstance(status, list):
        return [replayer for value in status for replayer in _image_replayers(value)]
    return []


def take_mirror_snapshot(primary: Cluster, spec: str) -> int:
    """Take a mirror snapshot on the primary and return its id. Raises ReplayError if none was made."""
    done = primary.run("rbd", "mirror", "image", "snapshot", spec, timeout_seconds=60)
    words = done.stdout.split()
    if not words or not words[-1].isdigit():
        raise ReplayError(f"no snapshot id in {done.stdout.strip()!r}", where=f"rbd mirror image snapshot {spec}")
    return int(words[-1])


def copied_snapshots(secondary: Cluster, spec: str, *, while_running: Callable[[], None] | None = None) -> set[int]:
    """Return the primary's ids of the mirror snapshots that are complete on the second cluster."""
    # None if the image does not exist yet.
    rows = unless_gone(lambda: secondary.json("rbd", "snap", "ls", "--all", spec, while_running=while_running)) or []
    spaces = [row.get("namespace", {}) for row in rows]
    return {
        int(space["primary_snap_id"])
        for space in spaces
        if space.get("type") == "mirror" and space.get("complete") and "primary_snap_id" in space
    }


#: The newest entry that a client of the journal is done with: the tag, which changes with the writer, and its number.
Position = tuple[int, int]
NOT_BEGUN: Position = (0, -1)


def positions_in(status: Mapping[str, Any]) -> tuple[Position, list[Position]]:
    """Return the position of the image's own client, and of each mirroring peer, from `rbd journal status`."""
    positions: dict[str, Position] = {}
    for client in status["registered_clients"]:
        places = client["commit_position"]["object_positions"]
        positions[client["id"]] = max(((place["tag_tid"], place["entry_tid"]) for place in places), default=NOT_BEGUN)
    own = positions.pop("", NOT_BEGUN)
    return own, list(positions.values())


def read_positions(cluster: Cluster, spec: str) -> tuple[Position, list[Position]]:
    """Ask for the positions of an image's journal. Raises CephCommandError."""
    # Without --image, the name would be that of a journal, which is the id of an image.
    return positions_in(cluster.json("rbd", "journal", "status", "--image", spec))


def is_replaying(second: Cluster, spec: str) -> bool:
    """Return whether the second cluster says that it replays the image; not if it does not know it yet."""
    try:
        return second.json("rbd", "mirror", "image", "status", spec)["state"] == "up+replaying"
    except CephCommandError as error:
        if error.exit_status_of_tool is None:
            raise
        return False


# Waits --------------------------------------------------------------------------------------------------------------

T = TypeVar("T")


@dataclass(frozen=True)
class Rest(Generic[T]):
    """How a wait for replay ended: the last reading, whether it is level, and after how many seconds it first was."""

    last: T
    is_level: bool
    level_after_seconds: float | None
    seconds: float

    @property
    def outcome(self) -> str:
        """`replayed` or `stalled`."""
        return "replayed" if self.is_level else "stalled"


def wait_until_rested(
    read: Callable[[], T],
    is_level: Callable[[T], bool],
    *,
    quiet_seconds: float,
    stall_seconds: float = 60.0,
    poll_seconds: float = 0.1,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None],
) -> Rest[T]:
    """Read until what is read is level and unchanged for `quiet_seconds`, or unchanged for `stall_seconds` before."""
    started = moved = clock()
    last, level_after = read(), None
    while True:
        now = clock()
        if (level := is_level(last)) and level_after is None:
            level_after = round(now - started, 3)
        if now - moved >= (quiet_seconds if level else stall_seconds):
            return Rest(last, level, level_after, now - started)
        sleep(poll_seconds)
        if (current := read()) != last:
            last, moved = current, clock()


def wait_until_replayed(
    read: Callable[[], ReplayCounters],
    before: ReplayCounters,
    expected_bytes: int,
    *,
    quiet_seconds: float = 1.0,
    **pace: Any,
) -> Wait:
    """Wait until the daemon has replayed at least `expected_bytes` of journal since `before`, and then rests.

    Only the daemon's counters matter; no status is queried. The outcome is `replayed`, or `stalled` if they did not
    change for `stall_seconds` before the expected bytes had been replayed. `expected_after_seconds` says when they had
    been, None if they never were. `pace` is for `wait_until_rested`.
    """
    rest = wait_until_rested(
        read,
        lambda counters: counters.entry_bytes - before.entry_bytes >= expected_bytes,
        quiet_seconds=quiet_seconds,
        **pace,
    )
    details = {
        "replayed_entries": rest.last.entries - before.entries,
        "replayed_bytes": rest.last.entry_bytes - before.entry_bytes,
        "expected_bytes": expected_bytes,
        "expected_after_seconds": rest.level_after_seconds,
    }
    return Wait("journal_replayed", rest.seconds, rest.outcome, details)


def wait_until_level(read: Callable[[], tuple[Position, list[Position]]], before: Position, **pace: Any) -> Wait:
    """Wait until every peer has replayed what the journal's own client has written; `before` is where peers were.

    The outcome is `replayed`, or `stalled` if no peer moved for `stall_seconds` before that.
    """
    rest = wait_until_rested(
        read,
        lambda positions: bool(positions[1]) and all(peer == positions[0] for peer in positions[1]),
        quiet_seconds=0.0,
        poll_seconds=1.0,
        **pace,
    )
    least = min(rest.last[1], default=NOT_BEGUN)
    entries = least[1] - (before[1] if least[0] == before[0] else -1)
    details = {"replayed_entries": entries, "expected_after_seconds": rest.level_after_seconds}
    return Wait("journal_replayed", rest.seconds, rest.outcome, details)


def wait_until_copied(
    copied: Callable[[], set[int]],
    snapshot_id: int,
    *,
    timeout_seconds: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Wait:
    """Wait until a mirror snapshot is complete on the other side. The outcome is `copied` or `stalled`."""
    started = clock()
    while not (is_there := any(copy >= snapshot_id for copy in copied())) and clock() - started < timeout_seconds:
        sleep(0.25)
    outcome = "copied" if is_there else "stalled"
    return Wait("snapshot_copied", clock() - started, outcome, {"snapshot_id": snapshot_id})
