"""`replay look`: what it asks, which only reads, what it says in each situation, and the site's file that it writes."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from replay.cli.main import main
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.mirroring import POLL_AGE
from replay.cluster.session import MonitorSession
from replay.cluster.site_file import load_site
from replay.ownership.daemon_settings import mirror_daemons
from replay.preflight.look import asking, command
from replay.preflight.look.asking import SYNCS, ImageCopy, copies_of
from replay.preflight.look.page import clock_text, interval_seconds, schedule_of
from support.hostile import ClosedPath
from support.large_cluster import FSID, answers
from support.samples import fixture_json

NOW = 1_795_400_000.0
#: The first words of all that may be asked. Each of them only reads.
READING = {
    *("status", "health", "versions", "df", "osd pool ls", "osd df", "osd tree", "osd perf", "config get"),
    *("config dump", "rbd ls", "rbd mirror pool info", "rbd mirror pool status"),
    *("rbd mirror snapshot schedule ls", "time-sync-status", asking.STATUSES_KIND, asking.JOURNALED_KIND),
    *("rbd journal status", "rbd journal info"),
}
SCHEDULES = [
    {"pool": "replay", "namespace": "-", "image": "-", "items": [{"interval": "5m", "start_time": ""}]},
    {"pool": "replay", "namespace": "-", "image": "fast", "items": [{"interval": "1m", "start_time": ""}]},
]


def replaying(**facts: Any) -> dict[str, Any]:
    """What a mirror daemon says of an image that it replays."""
    return {"state": "up+replaying", "description": f"replaying, {json.dumps(facts)}"}


def by_snapshot(seconds_old: float) -> dict[str, Any]:
    taken = int(NOW - seconds_old)
    return replaying(local_snapshot_timestamp=taken, remote_snapshot_timestamp=taken, replay_state="idle")


def behind(entries: int) -> dict[str, Any]:
    return replaying(entries_behind_primary=entries, entries_per_second=0.0)


STATES = {"slow": by_snapshot(665), "usual": by_snapshot(12), "fast": by_snapshot(67), "erp": behind(12480)}
ORIGINAL = {"state": "down+unknown", "description": "status not found"}


class Fake:
    """Two clusters that answer from recordings, and what was asked of them. What is in `denied` is refused."""

    def __init__(self) -> None:
        first = answers(osds=4, pools=2, groups_of_pool=32)
        first["osd tree"] = {"nodes": [{"id": -2, "type": "host", "name": "node4", "children": [0, 1, 2, 3]}]}
        for pool in first["osd pool ls"]:
            pool["application_metadata"] = {"rbd": {}}
        first["health"] = {"checks": {}}
        first["time-sync-status"] = {"time_skew_status": {"a": {"skew": 0.0}, "b": {"skew": -0.0004}}}
        second = answers(osds=1, pools=1, groups_of_pool=32) | {
            "status": fixture_json("release-16", "right-status.json")
        }
        second |= {
            "osd tree": {"nodes": []},
            "health": {"checks": {}},
            "config get": 5.0,
            "config dump": [{"name": SYNCS}],
        }
        #: The images of the pool `replay` with a journal, and how many of all were read within the time.
        self.journaled = {"names": ["erp"], "looked_at": len(STATES) + 1}
        self.monitors: dict[str, dict[str, Any]] = {"primary": first, "secondary": second}
        self.mode = "image"
        self.denied: set[str] = set()
        self.asked: list[str] = []

    def command(self, session: MonitorSession, asked: dict[str, Any], *, target: str = "mon", **_: Any) -> Any:
        name, prefix = session.cluster.name, asked["prefix"]
        if target == "images":
            return self.of_images(name, prefix, asked["pool"])
        return self.answer(name, prefix, lambda: self.monitors[name][prefix])

    def run(self, cluster: Cluster, tool: str, *words: str, **_: Any) -> subprocess.CompletedProcess[str]:
        line = shlex.join([tool, *words])
        kind = next((one for one in READING if line.startswith(f"{one} ")), line)
        found = self.answer(cluster.name, kind, lambda: self.printed(cluster.name, kind, words))
        return subprocess.CompletedProcess([tool, *words], 0, json.dumps(found), "")

    def answer(self, name: str, kind: str, found: Callable[[], Any]) -> Any:
        self.asked.append(kind)
        if f"{name}: {kind}" in self.denied or f"{name}: *" in self.denied:
            status = None if f"{name}: *" in self.denied else 13
            what = "cannot connect: [errno 110] RADOS timed out" if status is None else "error 13: access denied"
            raise CephCommandError(what, where=kind, exit_status_of_tool=status)
        return found()

    def printed(self, name: str, kind: str, words: tuple[str, ...]) -> Any:
        mirrored = self.mode if "replay" in words else "disabled"
        if kind == "rbd ls":
            return [*STATES, "alone"]
        if kind == "rbd mirror pool info":
            return {"mode": mirrored, "site_name": {"primary": "north", "secondary": "south"}[name], "peers": []}
        if kind == "rbd mirror snapshot schedule ls":
            return SCHEDULES
        if kind.startswith("rbd journal "):
            assert words[2:4] == ("--image", "replay/erp"), "the one that is behind"
            return {"minimum_set": 2, "active_set": 6, "order": 24, "splay_width": 4}
        assert kind == "rbd mirror pool status", f"{kind} is no question of look"
        return {"summary": {"daemon_health": "OK", "states": {"replaying": len(STATES)}}}

    def of_images(self, name: str, what: str, pool: str) -> Any:
        if what == "journaled":
            found = self.journaled if pool == "replay" else {"names": [], "looked_at": len(STATES) + 1}
            return self.answer(name, asking.JOURNALED_KIND, lambda: found)
        assert (what, pool) == ("statuses", "replay")
        here = STATES if name == "secondary" else dict.fromkeys(STATES, ORIGINAL)
        images = [{"name": image, **said, "peer_sites": [STATES[image]]} for image, said in here.items()]
        return self.answer(name, asking.STATUSES_KIND, lambda: images)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    """The clusters, and a clock that runs only while somebody sleeps."""
    made = Fake()

    def ask(session: MonitorSession, asked: dict[str, Any], **more: Any) -> Any:
        return made.command(session, asked, **more)

    def run(cluster: Cluster, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        return made.run(cluster, *words, **more)

    monkeypatch.setattr(MonitorSession, "command", ask)
    monkeypatch.setattr(Cluster, "run", run)
    monkeypatch.setattr(asking, "round_trip_seconds", lambda site: 0.0118)
    monkeypatch.setattr(command, "time", SimpleNamespace(time=lambda: NOW))
    clock = [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    look = asking.look
    monkeypatch.setattr(command, "look", lambda site: look(site, clock=lambda: clock[0], sleep=sleep))
    return made


@pytest.fixture
def confs(tmp_path: Path) -> list[str]:
    """The words that name both clusters' files."""
    for name in ("ceph", "dr"):
        (tmp_path / f"{name}.conf").write_text("[global]\nmon_host = [v2:10.0.0.1:3300]\n")
    return ["--conf", str(tmp_path / "ceph.conf"), "--second", str(tmp_path / "dr.conf")]


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    found = main(["look", *words])
    printed = capsys.readouterr()
    assert found == status, printed
    return " ".join((printed.out + printed.err).split())


def test_it_asks_only_what_reads_and_for_less_than_a_minute(
    configuration: Path, fake: Fake, confs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(capsys, *confs)
    assert set(fake.asked) == READING, "all of it is asked here, and nothing else"
    assert fake.asked.count("osd perf") == 2 * 11, "every five seconds up to the 48th, on both clusters"
    asked = text.partition("Nothing was changed asked ")[2]
    assert all(kind in asked for kind in READING) and ": 48 s" in asked


def test_a_pair_of_clusters_is_described(
    configuration: Path, fake: Fake, confs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    perf = fake.monitors["primary"]["osd perf"]["osdstats"]["osd_perf_infos"]
    for info in perf:
        info["perf_stats"] = {"commit_latency_ms": 47 if info["id"] == 3 else 2}
    fake.monitors["primary"]["osd pool ls"][1] |= {"quota_max_bytes": 2 << 30}
    text = said(capsys, *confs)
    for part in (
        "north Ceph 16.2.15, all daemons alike, asked as client.admin",
        "health HEALTH_OK",
        "the monitors' clocks are within 0.4 ms (mon.b)",
        "1 host, 4 of 4 OSDs up (ssd)",
        "replay 3 replicas 32 PGs",
        "can take 2 GiB more, by its quota of 2 GiB not mirrored",
        "! osd.3 node4 47 ms",
        "the middle one of 4: 2 ms",
        "osd.3 has a part in 67 of",
        "south Ceph 16.2.15",
        "line 11.8 ms from here",
        "daemons 1 rbd-mirror registered: right replay: their health is OK; 4 images replaying",
        "Mirroring from north to south",
        "1 journal at most 12,480 entries behind",
        "1 snapshot every 1m (the image) the copy is 1:07 old",
        "2 snapshot every 5m (the pool) the copy is 0:12 to 11:05 old",
        "1 not mirrored",
        "! replay/slow: its copy is 11:05 old, more than two intervals of 5m",
        "! replay/erp: 12,480 entries behind, as many as at the first look; its journal takes up to 320 MiB",
        "up to 11:05 of writes by snapshots and up to 12,480 entries of a journal",
        f"poll age 5 s ({POLL_AGE} of right; Ceph's default, set nowhere in the cluster's configuration)",
        f"syncs 5 at a time ({SYNCS} of right; set in the cluster's configuration)",
        "with the 3 copies of pool replay",
        "Latency and cost of a write below saturation, by mode of mirroring write-latency ",
        "Loss of the first site; Loss of the first site, the same mode twice (second_site: "
        "the site's file names no admin socket of the mirror daemon",
        "Placement by weight and primary affinity (crush: refused on a cluster that Replay did not start",
        "a run now would price the disk of osd.3",
        "also writes config/sites/NAME.yaml",
    ):
        assert part in text, (part, text)
    assert "replay/fast:" not in text and "replay/usual:" not in text, "they are as old as they have to be"
    assert "feature journaling" not in text, "the only image with a journal is mirrored by it"


@pytest.mark.parametrize("mode", ["image", "disabled"])
def test_images_that_pay_for_a_journal_without_being_mirrored_are_named(
    configuration: Path, fake: Fake, confs: list[str], capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    fake.mode = mode
    fake.journaled = {"names": ["alone", "erp"], "looked_at": 2}
    text = said(capsys, *confs[:2])
    paying = "1 with the feature journaling, which each write pays for, but not mirrored: alone"
    if mode == "disabled":
        paying = paying.replace("1 with", "2 with") + ", erp"
    assert f"! replay {paying} replay for journals, only 2 of 5 images were read" in text


def test_what_a_user_may_not_see_is_unknown_and_not_fine(
    configuration: Path, fake: Fake, confs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fake.denied = {"primary: osd perf", "primary: rbd mirror snapshot schedule ls", "secondary: config get"}
    text = said(capsys, *confs, "--client", "client.vmhost", status=1)
    assert "OSDs client.vmhost may not read their latency" in text
    assert "schedules are not visible to client.vmhost" in text
    assert f"{POLL_AGE} is unknown: it was not told" in text
    assert "! unanswered north: osd perf: error 13: access denied" in text
    assert "the rest is unknown, not fine" in text
    assert "next: ask an administrator for a user that only reads, and look again as that one" in text


def test_without_an_answer_of_the_second_cluster_the_first_one_is_looked_at(
    configuration: Path, fake: Fake, confs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fake.denied = {"secondary: *"}
    text = said(capsys, *confs, status=1)
    assert "! no monitor answered at [v2:10.0.0.1:3300] (secondary cluster). Going on with the first cluster." in text
    assert "Mirroring from north to a second cluster that did not answer" in text
    assert "at most 12,480 entries behind" in text, "the first cluster knows what the daemon has told it"
    assert "as far as the mirror daemon has told the first cluster" in text
    assert f"{POLL_AGE} is unknown: it is set on the second cluster" in text
    assert "next: from a host of the second site: ceph --conf" in text


def test_without_mirroring_it_says_so_and_offers_what_needs_one_cluster(
    configuration: Path, fake: Fake, confs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fake.mode = "disabled"
    text = said(capsys, *confs[:2])
    assert "Mirroring no pool is mirrored" in text
    possible, _, impossible = text.partition("What Replay could measure here")[2].partition("not here: ")
    assert "rbd bench with and without journaling rbd-journaling " in possible and "Fail-over" not in possible
    assert "Fail-over of a mirrored image" in impossible
    assert "(second_site: the site's file does not allow it)" in impossible


def test_a_cluster_that_does_not_answer_ends_it_with_what_to_do(
    configuration: Path, fake: Fake, confs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fake.denied = {"primary: *"}
    text = said(capsys, *confs, status=1)
    assert "no monitor answered at [v2:10.0.0.1:3300] (primary cluster)" in text
    assert "next: from a host of the cluster: ceph --conf" in text


def test_a_file_that_cannot_be_read_ends_it_before_anything_is_asked(
    configuration: Path, fake: Fake, confs: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = said(capsys, *confs, "--keyring", str(tmp_path / "nowhere"), status=1)
    assert "there is no such file; no cluster was asked" in text
    assert "ceph auth get-or-create client.look mon 'allow r'" in text
    assert fake.asked == []


def test_a_keyring_in_a_folder_that_may_not_be_entered_is_left_to_ceph(tmp_path: Path) -> None:
    conf = ClosedPath(tmp_path / "ceph.conf")
    options = argparse.Namespace(conf=conf, client="client.admin", keyring=None, second=None, client_release=None)
    assert command.site_of(options).primary.keyring is None


def test_a_site_is_written_with_limits_and_never_over_another(
    configuration: Path, fake: Fake, confs: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = said(capsys, *confs, "--write-site", "north")
    assert "preflight --site north" in text.partition("next: ")[2]
    path = configuration / "sites" / "north.yaml"
    raw = yaml.safe_load(path.read_text())
    assert raw["cluster"]["client"] == "client.replay", "not the user who looked"
    assert raw["cluster"]["keyring"] == str(tmp_path / "ceph.client.replay.keyring")
    assert raw["limitation"].startswith("4 OSDs, 3 copies.")
    site = load_site("north", check_files=False)
    assert site.allows == {"second_site"}
    assert (site.ceilings.bytes_written_to_media_per_run or 0) > 1 << 30
    before = path.read_text()
    assert "this site's file exists" in said(capsys, *confs, "--write-site", "north", status=2)
    assert path.read_text() == before


def test_a_site_with_a_name_of_one_letter_can_be_read_back(
    configuration: Path, fake: Fake, confs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, *confs, "--write-site", "x")
    assert load_site("x", check_files=False).label == "Cluster x"


def test_copies_are_those_of_images_that_this_cluster_writes() -> None:
    here = {"name": "theirs", **replaying(entries_behind_primary=0)}
    first = {"images": [{"name": "mine", "state": "up+stopped", "description": "local image is primary"}, here]}
    assert copies_of(first, {"images": [{"name": "mine", **behind(3)}]}) == [ImageCopy("mine", "replaying", 3)]
    assert copies_of(first, {"images": []}) == [ImageCopy("mine", "unknown")]
    broken = {"name": "mine", "state": "up+error", "description": "split-brain detected"}
    assert copies_of(first, {"images": [broken]}) == [ImageCopy("mine", "error")]


@pytest.mark.parametrize(
    ("pool", "image", "expected"),
    [
        ("replay", "fast", ("1m", "the image")),
        ("replay", "usual", ("5m", "the pool")),
        ("other", "usual", ("1d", "all pools")),
    ],
)
def test_the_nearest_schedule_counts(pool: str, image: str, expected: tuple[str, str]) -> None:
    everywhere: Mapping[str, Any] = {"pool": "-", "namespace": "-", "image": "-", "items": [{"interval": "1d"}]}
    assert schedule_of([*SCHEDULES, everywhere], pool, image) == expected
    assert schedule_of(SCHEDULES, "other", image) is None


def test_times_are_as_people_write_them() -> None:
    assert [interval_seconds(text) for text in ("5m", "1h", "2d", "30")] == [300, 3600, 172800, 1800]
    assert [clock_text(seconds) for seconds in (12, 665, 7391)] == ["0:12", "11:05", "2:03:11"]


@pytest.mark.parametrize("release", [16, 18, 20])
def test_mirror_daemons_are_found_in_the_status_of_each_release(release: int) -> None:
    assert mirror_daemons(fixture_json(f"release-{release}", "right-status.json")) == ["right"]
    assert mirror_daemons(fixture_json(f"release-{release}", "left-status.json")) == []


def test_the_first_recording_has_the_cluster_that_is_faked(fake: Fake) -> None:
    assert fake.monitors["primary"]["status"]["fsid"] == FSID
