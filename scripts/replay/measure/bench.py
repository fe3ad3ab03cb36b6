"""The bench: a site opened for measuring, with its sampler, caches and line. Each process opens and closes one."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from replay.base.clock import NotInTimeError, poll
from replay.base.errors import ReplayError
from replay.cluster import sandbox_record
from replay.cluster.cluster import ask
from replay.cluster.hosts import HostSampler
from replay.cluster.prometheus import PrometheusClient
from replay.cluster.sandbox_options import show_rate
from replay.cluster.sandbox_record import Sandbox, SandboxError
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site, missing, require
from replay.design.design import CellSet, Design
from replay.design.link import WORD, Line, farthest, line_of
from replay.evidence.record import Measured, Wait
from replay.ownership.open_site import OpenSite, opened
from replay.sandbox import link
from replay.sandbox.tools import locked

# This machine's CPU and disks, from `/proc`: two readings around a tool, no thread. Their cost is recorded ------------


@dataclass(frozen=True)
class MachineReading:
    """Counters at one moment: CPU ticks (idle, all), the disks' busy milliseconds, and a monotonic clock in seconds.

    `cost_seconds` is the time that all of the sampler's readings have taken so far, with this one; None for a reading
    that combines several.
    """

    idle_ticks: int
    all_ticks: int
    disk_busy_milliseconds: tuple[int, ...]
    clock: float
    cost_seconds: float | None = None


class MachineSampler:
    """Reads this machine's CPU and the disks that hold `paths` (the OSDs' files, if they are here)."""

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        self.devices = sorted({_device_of(path) for path in paths if path.exists()})
        self._cost_seconds = 0.0

    def read(self) -> MachineReading:
        """Return the counters now. Raises OSError if `/proc` is missing."""
        started = time.monotonic()
        fields = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        busy = []
        if self.devices:
            rows = map(str.split, Path("/proc/diskstats").read_text().splitlines())
            table = {(int(row[0]), int(row[1])): int(row[12]) for row in rows}
            busy = [table[device] for device in self.devices if device in table]
        ended = time.monotonic()
        self._cost_seconds += ended - started
        return MachineReading(
            idle_ticks=fields[3] + fields[4],
            all_ticks=sum(fields),
            disk_busy_milliseconds=tuple(busy),
            clock=ended,
            cost_seconds=self._cost_seconds,
        )

    @staticmethod
    def load(before: MachineReading, after: MachineReading) -> dict[str, float | None]:
        """Return `cpu_idle_fraction`, `disk_busy_fraction` (the busiest disk) and the load average of one minute.

        `cost_seconds` is the time that the readings took, including `after` but not `before`. It is left out for
        readings without a cost.
        """
        ticks = after.all_ticks - before.all_ticks
        seconds = after.clock - before.clock
        disk = None
        if before.disk_busy_milliseconds and seconds > 0:
            pairs = zip(before.disk_busy_milliseconds, after.disk_busy_milliseconds, strict=True)
            disk = round(min(1.0, max((b - a) / 1000 / seconds for a, b in pairs)), 4)
        load = {
            "cpu_idle_fraction": round((after.idle_ticks - before.idle_ticks) / ticks, 4) if ticks > 0 else None,
            "disk_busy_fraction": disk,
            "load_1min": round(os.getloadavg()[0], 2),
        }
        if before.cost_seconds is not None and after.cost_seconds is not None:
            load["cost_seconds"] = round(after.cost_seconds - before.cost_seconds, 6)
        return load


def _device_of(path: Path) -> tuple[int, int]:
    number = path.stat().st_dev
    return (os.major(number), os.minor(number))


# The bench ------------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class Bench(OpenSite):
    """One measuring process on one site. `hosts` asks the site's Prometheus about OSDs on other machines."""

    sampler: MachineSampler
    hosts: HostSampler | None = None
    #: What names the site's clusters, and the placeholder for it in evidence.
    names: Mapping[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def open_bench(site: Site, data_set: str, say: Callable[[str], None]) -> Iterator[Bench]:
    """Yield a Bench that holds the cluster's slot. Raises RefusedError if another measurement holds it."""
    site.primary.programs.check()
    with opened(site, data_set, say, limit=site.ceilings.bytes_written_to_media_per_run) as here:
        yield Bench(
            **vars(here),
            sampler=MachineSampler([site.primary.conf.parent]),
            hosts=HostSampler(PrometheusClient(site.prometheus), here.costs, say=say) if site.prometheus else None,
            names=placeholders_of(here.session, here.secondary),
        )


def sandbox_of(bench: OpenSite) -> Sandbox | None:
    """Return the sandbox that is measured: its cluster `left`, which may be mirrored to `right`. None elsewhere."""
    if not bench.daemons_are_here or not bench.site.sandbox:
        return None
    return sandbox_record.load(bench.primary_cluster.conf.parent.parent)


# What names the site stays out of evidence: protocols put placeholders into what they build themselves, but a tool may
# repeat its configuration, as fio does in its report, or complain about a file or a monitor. Raw output is meant to be
# shared, so all of it is searched.

#: How Ceph writes the address of a daemon or client: `10.1.2.3:3300/0`, `[fd00::1]:3300`.
_ADDRESS = r"(?:(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F.]*:[0-9a-fA-F:.]+\]):\d+(?:/\d+)?"


def placeholders_of(session: MonitorSession, secondary: MonitorSession | None) -> dict[str, str]:
    """Return the words that name a site's clusters, each with its placeholder. Longer words come first."""
    words: dict[str, str] = {}
    # The second cluster comes first, so that a client of both gets the first one's placeholder.
    for each, prefix in ((secondary, "second_"), (session, "")):
        if each is None:
            continue
        cluster = each.cluster
        words[cluster.client] = f"{{{prefix}client}}"
        words[str(cluster.conf)] = f"{{{prefix}conf}}"
        words[each.fsid()] = f"{{{prefix}fsid}}"
        if cluster.keyring is not None:
            words[str(cluster.keyring)] = f"{{{prefix}keyring}}"
    return dict(sorted(words.items(), key=lambda pair: -len(pair[0])))


def redact(text: str, words: Mapping[str, str]) -> str:
    """Return a text with placeholders for addresses, and for the words unless a word is part of a longer one."""
    text = re.sub(_ADDRESS, "{address}", text)
    if not words:
        return text
    either = "|".join(map(re.escape, words))
    return re.sub(rf"(?<![\w/.-])(?:{either})(?![\w-])", lambda match: words[match[0]], text)


def redact_cell(measured: Measured, words: Mapping[str, str]) -> None:
    """Redact a cell's result files and the detail of its invalidity."""
    for role, (suffix, content) in measured.results.items():
        if re.search(_ADDRESS.encode(), content) or any(word.encode() in content for word in words):
            # Bytes that are not text pass unchanged.
            text = content.decode(errors="surrogateescape")
            measured.results[role] = (suffix, redact(text, words).encode(errors="surrogateescape"))
    if measured.invalid is not None:
        reason, detail = measured.invalid
        measured.invalid = (reason, redact(detail, words))


# Before a cell: its caches, and the line between the sites ------------------------------------------------------------


DROP_CACHES = Path("/proc/sys/vm/drop_caches")


class Caches:
    """Drops the OSDs' caches before a cell, and this machine's page cache before a block.

    It does neither on somebody else's cluster, whose tenants need these caches. Each sidecar records what it did.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        sandbox = sandbox_of(bench)
        daemons = sandbox.clusters["left"].daemons if sandbox else []
        self.sockets = [Path(daemon.asok) for daemon in daemons if daemon.type == "osd"]
        self.page_cache = "kept: the cluster is not Replay's"

    def before_block(self) -> None:
        """Write dirty pages and drop the page cache, which needs root."""
        if not self.bench.daemons_are_here:
            return
        if missing(["host_root"], self.bench.site):
            self.page_cache = "kept: needs root"
            return
        with self.bench.costs.measure("prepare"):
            os.sync()
            try:
                DROP_CACHES.write_text("3\n")
                self.page_cache = "dropped before the block"
            except OSError as error:
                self.page_cache = f"kept: {error.strerror}"

    def before_cell(self) -> tuple[dict[str, str], list[Wait]]:
        """Drop the OSDs' caches; return the state of each cache and the wait, for the sidecar."""
        started, waits = time.monotonic(), []
        with self.bench.costs.measure("wait"):
            for socket in self.sockets:
                ask(socket, "cache drop", timeout_seconds=10)
        if self.sockets:
            waits.append(Wait("osd_caches_dropped", time.monotonic() - started, "dropped"))
        osds = "dropped before the cell" if self.sockets else "kept: the cluster is not Replay's"
        return {"osd_caches": osds, "page_cache": self.page_cache}, waits


class LineBetweenSites:
    """The line of a block's sandbox. It is left alone if the factors of the experiment do not name it."""

    def __init__(self, bench: Bench, design: Design) -> None:
        self.bench = bench
        # With `--only`, too: the sets that are left out are measured at the same rate.
        self._farthest = farthest(line_of(cell_set.levels) for cell_set in design.all_sets)
        self._before: dict[str, float | None] | None = None
        self._now: Line = {}

    def open_block(self) -> None:
        """Set the farthest line of all sets: what a block finds out when it opens, such as a rate, holds for each."""
        self._set(self._farthest)

    def before_set(self, cell_set: CellSet) -> None:
        """Set the line that a set asks for, and measure it, unless it is there.

        Raises SandboxError if the line is not as asked, RefusedError if the site is no sandbox with a line.
        """
        self._set(line_of(cell_set.levels))

    def close_block(self) -> None:
        """Put the line back as it was before the block. One that has ended stays so: `up` starts it.

        A busy machine may measure it longer than asked. That harms no cell: each set measures its own line.
        """
        if self._before is None or link.lost_line(self.bench.site) is not None:
            return
        before, self._before = self._before, None
        try:
            self._change(before)
        except SandboxError as error:
            self.bench.say(error.what)

    def _set(self, wanted: Line) -> None:
        if not wanted or wanted == self._now:
            return
        require(self.bench.site, WORD, self.bench.session.fsid())
        if self._before is None:
            there = self._sandbox().link
            self._before = {name: getattr(there, name) for name in wanted}
        # Whatever ends this, the next set finds out again what the line is.
        self._now = {}
        self._change(dict(wanted))
        self._now = wanted

    def _change(self, wanted: dict[str, float | None]) -> None:
        rate = wanted.get("rate_bytes_per_second")
        asked = f"{1e3 * (wanted['rtt_seconds'] or 0.0):g} ms" + (f" and {show_rate(rate)}" if rate else "")
        self.bench.say(f"setting the line between the sites: {asked}")
        directory = Path(self._sandbox().directory)
        with self.bench.costs.measure("prepare"), locked(directory):
            link.change(sandbox_record.load(directory), self.bench.say, **wanted)

    def _sandbox(self) -> Sandbox:
        sandbox = sandbox_record.owner_of(self.bench.session.fsid())
        if sandbox is None:
            raise ReplayError("the sandbox is gone", where=f"site {self.bench.site.name}", next_step="start it again")
        return sandbox


def await_done(
    bench: OpenSite,
    is_done: Callable[[], bool],
    *,
    what: str,
    reason: str,
    outcomes: tuple[str, str],
    seconds: float,
    every: float,
    mirrored: bool = False,
) -> Wait:
    """Wait until something is done, or the time is over; return the wait for the record.

    `what` tells a person what is waited for, `outcomes` has the words for both ends. `mirrored`: the wait is for
    mirroring. Raises ReplayError if the wait has become hopeless.
    """
    started, outcome = time.monotonic(), outcomes[0]
    pause = bench.waiting(what, seconds, mirrored=mirrored, sleep=time.sleep).pause
    try:
        poll(lambda: is_done() or None, what=what, seconds=seconds, every=every, pause=pause, clock=time.monotonic)
    except NotInTimeError:
        outcome = outcomes[1]
    return Wait(reason, time.monotonic() - started, outcome)
