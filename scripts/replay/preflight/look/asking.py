"""The minute of `replay look`: asks up to two clusters, watches their OSDs, and asks about mirroring again.

All questions only read: they go through the monitors, by programs, and image by image.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import Any

from replay.base.errors import ReplayError
from replay.base.paths import replay_command
from replay.base.terminal import waiting
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.mirroring import POLL_AGE
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site
from replay.ownership.daemon_settings import configured_for, mirror_daemons
from replay.preflight.checks import why_no_answer
from replay.sandbox.link import round_trip_seconds

#: A cluster that is there takes a connection within milliseconds.
CONNECT_WITHIN_SECONDS = 5.0
ANSWER_WITHIN_SECONDS = 10.0
#: What questions about a pool's images are called.
STATUSES_KIND, JOURNALED_KIND = "mirror image statuses", "features of images"
#: Opening an image takes milliseconds. Of a pool with thousands of them, only the first are looked at.
JOURNALED_WITHIN_SECONDS = 5.0


class Asker:
    """Asks one cluster, until a moment of the clock. What it does not answer is noted, and the look goes on."""

    def __init__(self, cluster: Cluster, ends_at: float, clock: Callable[[], float]) -> None:
        self.cluster = cluster
        self.session = MonitorSession(cluster, connect_timeout_seconds=CONNECT_WITHIN_SECONDS)
        self._ends_at, self._clock = ends_at, clock
        #: Every kind of question, in the order in which it was first asked.
        self.asked: list[str] = []
        #: Why a kind of question was not answered, at least once.
        self.unanswered: dict[str, str] = {}

    def status(self) -> dict[str, Any]:
        """Return the cluster's status, the first question. Raises CephCommandError if the cluster does not answer."""
        self.asked.append("status")
        return self.session.status(timeout_seconds=ANSWER_WITHIN_SECONDS)

    def monitors(self, command: dict[str, Any]) -> Any:
        """Return the answer to a command of `ceph`, None if there is none."""
        return self._ask(str(command["prefix"]), lambda seconds: self.session.command(command, timeout_seconds=seconds))

    def run(self, command: Sequence[str], *arguments: str) -> Any:
        """Return what a program prints as JSON, None if it fails. It prints nothing where there is nothing to list."""

        def run(seconds: float) -> Any:
            words = (*command[1:], *arguments, "--format", "json")
            printed = self.cluster.run(command[0], *words, timeout_seconds=seconds).stdout
            try:
                return json.loads(printed) if printed.strip() else []
            except json.JSONDecodeError as error:
                raise CephCommandError(f"printed no JSON: {error}", where=" ".join(command)) from error

        return self._ask(" ".join(command), run)

    def statuses(self, pool: str) -> Any:
        """Return what the mirror daemons say of each image of a pool, None if that cannot be read."""
        return self._images(STATUSES_KIND, "statuses", pool, ANSWER_WITHIN_SECONDS)

    def journaled(self, pool: str) -> Any:
        """Return which images of a pool have a journal, None if that cannot be read."""
        return self._images(JOURNALED_KIND, "journaled", pool, JOURNALED_WITHIN_SECONDS)

    def _images(self, kind: str, what: str, pool: str, within_seconds: float) -> Any:
        def ask(seconds: float) -> Any:
            command = {"prefix": what, "pool": pool}
            return self.session.command(command, timeout_seconds=min(seconds, within_seconds), target="images")

        return self._ask(kind, ask)

    def _ask(self, kind: str, question: Callable[[float], Any]) -> Any:
        if kind not in self.asked:
            self.asked.append(kind)
        seconds = min(ANSWER_WITHIN_SECONDS, self._ends_at - self._clock())
        if seconds < 1:
            self.unanswered.setdefault(kind, "the minute was over")
            return None
        try:
            return question(seconds)
        except CephCommandError as error:
            self.unanswered.setdefault(kind, error.what)
            return None


# The copies of mirrored images, from what the mirror daemons say of them on both clusters -----------------------------


@dataclass(frozen=True)
class ImageCopy:
    """An image's copy. `state` is the daemon's word for it, `unknown` if no daemon has said anything.

    Of a journal, `entries_behind` is known. Of snapshots, `taken_at` is the moment, in seconds since 1970, of the
    newest one that is whole in the copy.
    """

    image: str
    state: str
    entries_behind: int | None = None
    taken_at: float | None = None
    by_snapshot: bool = False

    @property
    def how(self) -> str:
        """How the image is mirrored: `journal` or `snapshot`, or its state if that is all that is known."""
        if self.by_snapshot:
            return "snapshot"
        return "journal" if self.entries_behind is not None else self.state


def copies_of(first: Mapping[str, Any], second: Mapping[str, Any] | None) -> list[ImageCopy]:
    """Return the copies of a pool's images, from what the mirror daemons say on both clusters.

    If the second one does not answer, what its daemon has reported to the first one counts.
    """
    originals = [image for image in first.get("images", ()) if not _is_copy(image)]
    if second is None:
        told = {image["name"]: site for image in originals for site in image.get("peer_sites", ())}
    else:
        told = {image["name"]: image for image in second.get("images", ())}
    return [_copy(image["name"], told.get(image["name"], {})) for image in originals]


def _is_copy(image: Mapping[str, Any]) -> bool:
    """Return whether this cluster has the copy: its own daemon then replays the image."""
    return image.get("state", "").startswith("up+") and "primary" not in image.get("description", "").partition("{")[0]


def _copy(name: str, told: Mapping[str, Any]) -> ImageCopy:
    facts = _facts(told.get("description", ""))
    state = told.get("state", "").rpartition("+")[2] or "unknown"
    return ImageCopy(
        name,
        state,
        facts.get("entries_behind_primary"),
        facts.get("local_snapshot_timestamp"),
        by_snapshot="remote_snapshot_timestamp" in facts,
    )


def _facts(description: str) -> dict[str, Any]:
    """Return the figures in a daemon's description of an image, which has a word before them."""
    brace = description.find("{")
    try:
        return json.JSONDecoder().raw_decode(description[brace:])[0] if brace >= 0 else {}
    except json.JSONDecodeError:
        return {}


# Both clusters --------------------------------------------------------------------------------------------------------

#: The whole look takes no longer; the OSDs are watched up to the second moment, so that the rest fits in.
ENDS_AFTER_SECONDS, WATCHES_UNTIL_SECONDS = 60.0, 48.0
#: The names of the clusters in a site.
FIRST, SECOND = "primary", "secondary"
#: OSDs report their latency this often (`mgr_stats_period`).
READ_EVERY_SECONDS = 5.0
REPLICATED = 1
#: Options of a mirror daemon that bound how far a copy is behind.
SYNCS = "rbd_mirror_concurrent_image_syncs"
SETTINGS = (POLL_AGE, SYNCS)
#: Of each pool, so many journals are asked for their size, each in a fraction of a second.
ASKED_JOURNALS = 3


@dataclass
class PoolAnswers:
    """What a cluster says of a pool of images; None where it does not say."""

    name: str
    images: list[str] | None = None
    info: Mapping[str, Any] | None = None
    status: Mapping[str, Any] | None = None
    #: How many of its images were looked at, and the names of those with a journal.
    journaled: Mapping[str, Any] | None = None

    @property
    def mode(self) -> str | None:
        """How the pool is mirrored: `image`, `pool`, or another word of Ceph's; None if that is not known."""
        return str(self.info["mode"]) if self.info else None


@dataclass
class Answers:
    """What one cluster answered. A dictionary or list is empty where it did not."""

    client: str
    status: Mapping[str, Any]
    detail: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, Any] = field(default_factory=dict)
    df: Mapping[str, Any] = field(default_factory=dict)
    pools: list[Mapping[str, Any]] = field(default_factory=list)
    osd_df: Mapping[str, Any] = field(default_factory=dict)
    tree: Mapping[str, Any] = field(default_factory=dict)
    of_images: dict[str, PoolAnswers] = field(default_factory=dict)
    schedules: list[Mapping[str, Any]] = field(default_factory=list)
    #: The readings of `osd perf`, one after another.
    perf: list[Mapping[str, Any]] = field(default_factory=list)
    #: What the journals that are furthest behind take at most, by `pool/image`.
    journal_bytes: dict[str, int] = field(default_factory=dict)
    clocks: Mapping[str, Any] = field(default_factory=dict)
    #: The value that the cluster's configuration gives each mirror daemon, by option and the daemon's name.
    settings: dict[str, dict[str, float]] = field(default_factory=dict)
    #: The options that the configuration sets; None if that cannot be seen.
    set_options: set[str] | None = None

    @property
    def name(self) -> str:
        """The name that mirroring has for the cluster; empty if it has none but the fsid."""
        names = {str(pool.info.get("site_name", "")) for pool in self.of_images.values() if pool.info}
        return min(names - {"", str(self.status.get("fsid"))}, default="")


def ask_cluster(asker: Asker, status: Mapping[str, Any]) -> Answers:
    """Ask a cluster that has told its status about itself."""
    answers = Answers(
        client=asker.cluster.client,
        status=status,
        detail=asker.monitors({"prefix": "health", "detail": "detail"}) or {},
        versions=asker.monitors({"prefix": "versions"}) or {},
        df=asker.monitors({"prefix": "df"}) or {},
        pools=asker.monitors({"prefix": "osd pool ls", "detail": "detail"}) or [],
        osd_df=asker.monitors({"prefix": "osd df"}) or {},
        tree=asker.monitors({"prefix": "osd tree"}) or {},
        clocks=asker.monitors({"prefix": "time-sync-status"}) or {},
    )
    _read_latency(asker, answers)
    return answers


def ask_first(asker: Asker, answers: Answers) -> None:
    """Ask the cluster that is mirrored about its images, and by which schedules snapshots of them are taken."""
    for pool in answers.pools:
        if "rbd" in pool.get("application_metadata", {}) and pool["type"] == REPLICATED:
            name = pool["pool_name"]
            images = asker.run(("rbd", "ls"), name)
            answers.of_images[name] = PoolAnswers(name, images, asker.run(("rbd", "mirror", "pool", "info"), name))
    if mirrored := mirrored_pools(answers):
        ask_mirroring(asker, answers, mirrored)
        answers.schedules = asker.run(("rbd", "mirror", "snapshot", "schedule", "ls"), "--recursive") or []
    for name, pool in answers.of_images.items():
        if pool.images:
            pool.journaled = asker.journaled(name)


def mirrored_pools(answers: Answers) -> list[str]:
    """Return the names of the pools whose images, or some of them, are mirrored."""
    return [name for name, pool in answers.of_images.items() if pool.mode in ("image", "pool")]


def ask_second(asker: Asker, answers: Answers, mirrored: Iterable[str]) -> None:
    """Ask the cluster that mirrors: what it says of these pools, and how its daemons are set."""
    there = {pool["pool_name"] for pool in answers.pools}
    for name in mirrored:
        if name in there:
            answers.of_images[name] = PoolAnswers(name, info=asker.run(("rbd", "mirror", "pool", "info"), name))
    ask_mirroring(asker, answers, mirrored_pools(answers))
    for option in SETTINGS:
        told = {daemon: asker.monitors(configured_for(daemon, option)) for daemon in mirror_daemons(answers.status)}
        answers.settings[option] = {daemon: float(value) for daemon, value in told.items() if value is not None}
    dump = asker.monitors({"prefix": "config dump"})
    if dump is not None:
        answers.set_options = {row["name"] for row in dump}


def ask_mirroring(asker: Asker, answers: Answers, pools: Iterable[str]) -> None:
    """Ask what the mirror daemons say of pools and of their images; again, if that was asked before."""
    for name in pools:
        if (images := asker.statuses(name)) is not None:
            summary = (asker.run(("rbd", "mirror", "pool", "status"), name) or {}).get("summary", {})
            answers.of_images[name].status = {"summary": summary, "images": images}


def copies_in(first: Answers, second: Answers | None, pool: str) -> list[ImageCopy]:
    there = second.of_images.get(pool) if second else None
    return copies_of(first.of_images[pool].status or {}, there.status if there else None)


def ask_journals(asker: Asker, first: Answers, second: Answers | None) -> None:
    """Ask how large the journals are that are furthest behind. A journal has its objects in whole sets."""
    for pool in mirrored_pools(first):
        copies = copies_in(first, second, pool)
        behind = sorted((copy for copy in copies if copy.entries_behind), key=lambda copy: -copy.entries_behind)
        for spec in (f"{pool}/{copy.image}" for copy in behind[:ASKED_JOURNALS]):
            status = asker.run(("rbd", "journal", "status"), "--image", spec)
            info = asker.run(("rbd", "journal", "info"), "--image", spec)
            if status and info:
                sets = status["active_set"] - status["minimum_set"] + 1
                first.journal_bytes[spec] = sets * info["splay_width"] << info["order"]


def _read_latency(asker: Asker, answers: Answers) -> None:
    if reading := asker.monitors({"prefix": "osd perf"}):
        answers.perf.append(reading)


# The minute -----------------------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """What a look has found: the answers of both clusters, and the copies of each mirrored pool at its begin."""

    first: Answers
    askers: dict[str, Asker]
    second: Answers | None = None
    #: Why the second cluster, if there is one, did not answer.
    silent: str = ""
    earlier: Mapping[str, list[ImageCopy]] = field(default_factory=dict)
    line_seconds: float | None = None
    seconds: float = 0.0

    @property
    def unanswered(self) -> dict[str, str]:
        """Why some kinds of question were not answered, by cluster and kind."""
        names = self.names
        return {
            f"{names[side]}: {kind}": why
            for side, asker in self.askers.items()
            for kind, why in asker.unanswered.items()
        }

    @property
    def names(self) -> dict[str, str]:
        """What to call the clusters: by the names that mirroring has for them, if it has any."""
        second = self.second.name if self.second else ""
        return {FIRST: self.first.name or "the first cluster", SECOND: second or "the second cluster"}


def look(
    site: Site,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Seen:
    """Ask the site's clusters, and watch them; nothing is changed. Raises ReplayError if the first does not answer."""
    began, silent = clock(), ""
    askers: dict[str, Asker] = {}
    statuses: dict[str, Mapping[str, Any]] = {}
    with ExitStack() as stack:
        for side, cluster in ((FIRST, site.primary), (SECOND, site.secondary)):
            if cluster is None:
                continue
            asker = Asker(cluster, began + ENDS_AFTER_SECONDS, clock)
            stack.enter_context(closing(asker.session))
            try:
                statuses[side] = asker.status()
                askers[side] = asker
            except CephCommandError as error:
                silent = why_no_answer(cluster, error)
                if side == FIRST:
                    there = f"from a host of the cluster: ceph --conf {cluster.conf} --connect-timeout 5 -s"
                    next_step = replay_command("sandbox", "up") if site.sandbox else there
                    raise ReplayError(silent, next_step=next_step) from error
                print(f"! {silent}. Going on with the first cluster.", flush=True)
        with waiting(f"asking, then watching for {WATCHES_UNTIL_SECONDS:.0f} s in all"):
            answers = {FIRST: ask_cluster(askers[FIRST], statuses[FIRST])}
            seen = Seen(answers[FIRST], askers, silent=silent)
            ask_first(askers[FIRST], seen.first)
            if SECOND in askers:
                seen.second = answers[SECOND] = ask_cluster(askers[SECOND], statuses[SECOND])
                ask_second(askers[SECOND], seen.second, mirrored_pools(seen.first))
                seen.line_seconds = round_trip_seconds(site)
            seen.earlier = {pool: copies_in(seen.first, seen.second, pool) for pool in mirrored_pools(seen.first)}
            while (left := began + WATCHES_UNTIL_SECONDS - clock()) > 0:
                sleep(min(READ_EVERY_SECONDS, left))
                for side, asker in askers.items():
                    _read_latency(asker, answers[side])
            # The cluster that has a copy knows best how far that is behind; of others the first tells.
            for side, asker in askers.items():
                ask_mirroring(asker, answers[side], mirrored_pools(answers[side]))
            ask_journals(askers[FIRST], seen.first, seen.second)
    seen.seconds = clock() - began
    return seen
