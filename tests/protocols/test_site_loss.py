"""The loss of a site: when it happens, what a design may ask, where it is refused, and what a trial does without it."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.clock import Waiting
from replay.base.errors import ConfigurationError, RefusedError, ReplayError
from replay.base.programs import HOST_PROGRAMS
from replay.cluster import sandbox_record
from replay.cluster.cluster import Cluster
from replay.cluster.site import OWN_CLUSTER_ONLY, Pool, Pools, SecondSite, Site, missing
from replay.design.configuration import load_experiment
from replay.design.expansion import expand
from replay.ownership import daemon_settings
from replay.ownership.daemon_settings import PollAge
from replay.protocols import site_loss
from replay.protocols.drivers import trial as trial_module
from replay.protocols.drivers.tool import StepLog
from replay.protocols.drivers.trial import Trial
from replay.protocols.site_loss import FIRST_SECONDS, WORD, LossOfSite, interval_of, phase_of, write_seconds_of
from support.bench import bench_of, waiting

FSID = "0f0f0f0f-0000"


@given(trials=st.integers(1, 60), seeds=st.integers(0, 2**31))
def test_each_trial_has_a_stratum_of_its_own(trials, seeds):
    strata = [int(phase_of(trial, trials, seeds + trial) * trials) for trial in range(1, trials + 1)]
    assert sorted(strata) == list(range(trials))


def test_ten_of_twenty_trials_are_spread_over_the_whole_interval():
    quarters = Counter(int(4 * phase_of(trial, 20, trial)) for trial in range(1, 11))
    assert set(quarters) == {0, 1, 2, 3} and max(quarters.values()) <= 3


@pytest.mark.parametrize(("interval", "at_least", "whole"), [(60, 4, 1), (15, 4, 1), (5, 4, 1), (1, 4, 4), (3, 4, 2)])
def test_a_loss_comes_after_a_whole_interval_and_a_part_of_one(interval, at_least, whole):
    assert write_seconds_of(interval, at_least, 0.0) == FIRST_SECONDS + whole * interval
    assert write_seconds_of(interval, at_least, 0.5) == FIRST_SECONDS + (whole + 0.5) * interval


# What a design may ask ------------------------------------------------------------------------------------------


def protocol_of(scale="talk", **changes):
    configuration = {**load_experiment("site-loss"), **changes}
    site = SimpleNamespace(name="s", second_site=None)
    return LossOfSite(bench_of(site, SimpleNamespace(cluster=Cluster("c"))), expand(configuration, scale))


def variant(name, **levels):
    mode = levels.get("mode", "snapshot")
    features = {"features": ["journaling"]} if mode == "journal" else {}
    return {"name": name, "label": name.upper(), "mirroring": mode, "levels": {"mode": mode, **levels}, **features}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"variants": [variant("plain")]}, "its level snapshot_interval_seconds is None"),
        ({"variants": [variant("plain", mode="journal")]}, "its level journal_poll_age_seconds is None"),
        ({"variants": [variant("rare", snapshot_interval_seconds=600)]}, "its longest trial writes 120100 blocks"),
        ({"variants": [variant("other", snapshot_interval_seconds=6) | {"mirroring": "journal"}]}, "levels.mode is"),
    ],
)
def test_a_design_that_cannot_be_measured_is_refused_before_anything_is_made(changes, said):
    with pytest.raises(ConfigurationError, match=said):
        protocol_of(**changes)


def in_stretch(**levels):
    return {"name": "stretch", "label": "Stretch", "levels": {"mode": "stretch", **levels}, "requires": ["stretch"]}


def test_in_a_stretch_cluster_a_site_is_lost_within_the_time_of_writing():
    protocol = protocol_of(variants=[in_stretch()])
    [cell] = [cell for one in protocol.design.sets for cell in one.cells]
    assert interval_of(cell) is None
    plans = []
    for trial in range(1, 21):
        protocol.driver.trial = trial
        plans.append(protocol.driver.plan_of(cell, seed=trial))
    assert all(plan.stretch and plan.snapshot_interval_seconds is None for plan in plans)
    least = FIRST_SECONDS + protocol.option("write_seconds")
    strata = sorted(int((plan.write_seconds - least) / protocol.option("write_seconds") * 20) for plan in plans)
    assert strata == list(range(20))


def test_a_mode_and_its_mirroring_have_to_fit():
    with pytest.raises(ConfigurationError, match=r"levels\.mode is 'stretch', but mirroring is 'journal'"):
        protocol_of(variants=[in_stretch() | {"mirroring": "journal", "features": ["journaling"]}])
    with pytest.raises(ConfigurationError, match=r"levels\.mode is 'journal', but mirroring is None"):
        protocol_of(variants=[in_stretch() | {"levels": {"mode": "journal", "journal_poll_age_seconds": 5}}])


def test_the_client_that_takes_over_a_stretch_cluster_is_on_its_second_site(monkeypatch):
    link = SimpleNamespace(entry=lambda site: ("nsenter", f"--net=/of/{site}", "--"))
    sandbox = SimpleNamespace(link=link, options=SimpleNamespace(stretch=True))
    monkeypatch.setattr(sandbox_record, "owner_of", lambda fsid, directory=None: sandbox)
    protocol = protocol_of(variants=[in_stretch()])
    first = Cluster("c", programs=HOST_PROGRAMS.inside(link.entry("left")))
    protocol.bench.session = SimpleNamespace(fsid=lambda: FSID, cluster=first)
    protocol.bench.site = SimpleNamespace(name="s", fsid=FSID, allows=(), secondary=None)
    protocol.driver.bench = protocol.bench
    [cell] = [cell for one in protocol.design.sets for cell in one.cells]
    second = protocol.driver.second(protocol.driver.plan_of(cell, seed=1))
    assert (second.conf, second.programs.entry[1]) == ("c", "--net=/of/right")
    sandbox.options.stretch = False
    with pytest.raises(RefusedError, match="stretch is refused"):
        protocol.driver.second(protocol.driver.plan_of(cell, seed=1))


class Fake:
    """A trial's steps without a cluster, in the order in which they happen."""

    def __init__(self):
        self.steps = []

    def step(self, name):
        return lambda *args: self.steps.append(" ".join([name, *(arg for arg in args if isinstance(arg, str))]))


@pytest.mark.parametrize(
    ("stretch", "order"),
    [
        (True, ["write", "first_write", "verify second", "restore", "account"]),
        (False, ["write", "promote", "first_write", "restore", "account", "verify second"]),
    ],
)
def test_a_stretch_cluster_is_verified_while_its_first_site_is_gone(monkeypatch, stretch, order):
    fake, trial = Fake(), object.__new__(Trial)
    trial.plan, trial.second = SimpleNamespace(kind="forced", stretch=stretch), None
    trial.bench = SimpleNamespace(primary_cluster=None)
    trial._client = lambda *args: SimpleNamespace()
    trial._await = lambda *args: None
    names = {"_write": "write", "_promote": "promote", "_first_write": "first_write", "_verify": "verify"}
    names |= {"_restore_first_site": "restore", "_account_writes": "account"}
    for method, name in names.items():
        setattr(trial, method, fake.step(name))
    trial.run()
    assert fake.steps == order


# Where it is refused --------------------------------------------------------------------------------------------


def test_a_foreign_cluster_is_never_stopped_whatever_its_file_allows(monkeypatch):
    monkeypatch.setattr(sandbox_record, "owner_of", lambda fsid, directory=None: None)
    site = SimpleNamespace(name="theirs", fsid=FSID, allows=(WORD,), second_site=None)
    assert WORD in OWN_CLUSTER_ONLY
    assert missing([WORD], site) == [(WORD, "refused on a cluster that Replay did not start, whatever its file allows")]
    protocol = protocol_of()
    protocol.bench.site = site
    protocol.bench.session = SimpleNamespace(fsid=lambda: FSID)
    protocol.driver.bench = protocol.bench
    with pytest.raises(RefusedError, match=f"{WORD} is refused"):
        protocol.driver.loss().__enter__()


def test_its_own_cluster_needs_the_word_too(monkeypatch):
    monkeypatch.setattr(sandbox_record, "owner_of", lambda fsid, directory=None: object())
    site = SimpleNamespace(name="own", fsid=FSID, allows=(), second_site=None)
    assert missing([WORD], site) == [(WORD, "the site's file does not allow it")]


# The poll age ---------------------------------------------------------------------------------------------------


class Settings:
    """A second cluster's settings, and a daemon that takes them at its next look."""

    def __init__(self, value=5.0):
        self.value, self.before, self.changes = value, None, 0

    def set_config(self, who, name, value):
        self.before, self.value = self.value if self.before is None else self.before, float(value)
        self.changes += 1

    def restore_config(self, who, name):
        changed, self.value, self.before = self.before is not None, self.before or self.value, None
        return changed


@pytest.fixture
def poll(monkeypatch):
    settings = Settings()
    monkeypatch.setattr(daemon_settings, "settings_of_second", lambda bench: settings)
    monkeypatch.setattr(PollAge, "daemon", SimpleNamespace(option=lambda name: settings.value, admin_socket="asok"))
    return settings, PollAge(SimpleNamespace(site=SimpleNamespace(name="s"), waiting=waiting))


def test_a_poll_age_is_set_for_a_cell_and_set_back(poll):
    settings, one = poll
    one.set(1.0)
    assert (settings.value, one.seconds()) == (1.0, 1.0)
    one.restore()
    assert settings.value == 5.0


def test_a_daemon_that_has_the_poll_age_is_left_alone(poll):
    settings, one = poll
    one.set(5.0)
    one.restore()
    assert (settings.changes, settings.value) == (0, 5.0)


def test_a_daemon_that_does_not_take_it_is_named(poll, monkeypatch):
    _, one = poll
    monkeypatch.setattr(daemon_settings, "WITHIN_SECONDS", 0.0)
    monkeypatch.setattr(PollAge, "daemon", SimpleNamespace(option=lambda name: 5.0, admin_socket="/run/it.asok"))
    with pytest.raises(ReplayError, match="for the mirror daemon to take rbd_mirror_journal_poll_age = 1") as raised:
        one.set(1.0)
    assert raised.value.where == "/run/it.asok"


# A promotion that hangs -----------------------------------------------------------------------------------------


class Loss:
    """A lost site whose mirror daemon holds the image until it is killed."""

    def __init__(self, flag):
        self.flag, self.mirror_daemon_killed = flag, False

    def kill_mirror_daemon(self):
        self.mirror_daemon_killed = True
        self.flag.touch()


def promoted(tmp_path, patience_seconds, script):
    """Promote by a shell script, which may wait for the file `flag`; return the trial."""
    trial = object.__new__(Trial)
    trial.bench = SimpleNamespace(slot=None, say=lambda line: None)
    trial.second = SimpleNamespace(programs=HOST_PROGRAMS)
    trial.plan = SimpleNamespace(promote_patience_seconds=patience_seconds)
    trial.log = StepLog({}, programs=HOST_PROGRAMS)
    trial.loss = Loss(tmp_path / "flag")
    trial._promote_without_site(["sh", "-c", script.replace("FLAG", str(tmp_path / "flag"))])
    return trial


HANGS = "while [ ! -e FLAG ]; do sleep 0.02; done; echo promoted"


@pytest.mark.parametrize("script", ["exit 16", "sleep 600"], ids=["refused again and again", "hanging"])
def test_a_promotion_that_became_hopeless_ends_with_the_cause(monkeypatch, script):
    def look():
        raise ReplayError("the mirror daemon does not run")

    def waiting(what, at_most_seconds, *, mirrored, writing):
        assert (what, at_most_seconds, mirrored, writing) == ("the copy to be promoted", 120.0, True, False)
        return Waiting(what, at_most_seconds, say=lambda line: None, look=look)

    monkeypatch.setattr("replay.base.clock.LOOK_EVERY_SECONDS", 0.2)
    monkeypatch.setattr(StepLog, "rbd", lambda log, prefix: ["sh", "-c", script])
    trial = object.__new__(Trial)
    trial.bench = SimpleNamespace(waiting=waiting)
    trial.plan, trial.daemons_stopped, trial.loss = SimpleNamespace(kind="planned"), 0, None
    trial.second = SimpleNamespace(programs=HOST_PROGRAMS)
    trial.log = StepLog({"second_image": "copy"}, programs=HOST_PROGRAMS)
    with pytest.raises(ReplayError, match="the mirror daemon does not run"):
        trial._promote()


def test_a_promotion_that_hangs_ends_when_the_mirror_daemon_is_killed(tmp_path):
    trial = promoted(tmp_path, 0.2, HANGS)
    assert [line["step"] for line in trial.log.lines] == ["mirror_daemon_killed", "promote"]
    promote = trial.log.lines[1]
    assert (promote["exit_status"], promote["said"], promote["attempt"]) == (0, "promoted", 1)
    assert promote["seconds"] >= 0.2 and trial.loss.mirror_daemon_killed


def test_a_promotion_that_does_not_hang_leaves_the_mirror_daemon_alone(tmp_path):
    trial = promoted(tmp_path, 600, "echo promoted")
    assert [line["step"] for line in trial.log.lines] == ["promote"]
    assert not trial.loss.mirror_daemon_killed


def test_a_promotion_that_fails_says_how_and_when(tmp_path):
    with pytest.raises(ReplayError, match="promote ended with status 5"):
        promoted(tmp_path, 600, "exit 5")


def test_a_promotion_that_never_ends_is_given_up_before_the_osds_would_abort(tmp_path, monkeypatch):
    monkeypatch.setattr(trial_module, "LOST_SITE_PATIENCE_SECONDS", 0.5)
    with pytest.raises(ReplayError, match="promote ended with status None"):
        promoted(tmp_path, 0.1, "sleep 600")


@pytest.mark.parametrize("ending", [None, KeyboardInterrupt], ids=["whole", "interrupted"])
def test_a_mirror_daemon_that_was_killed_is_asked_by_its_new_socket(monkeypatch, ending):
    clusters = {"left": SimpleNamespace(fsid=FSID)}
    sandbox = SimpleNamespace(clusters=clusters, mirror=SimpleNamespace(asok="/run/killed.asok"))

    @contextmanager
    def lost(sandbox, name):
        try:
            yield name
        finally:
            sandbox.mirror = SimpleNamespace(asok="/run/started.asok")

    monkeypatch.setattr(sandbox_record, "owner_of", lambda fsid, directory=None: sandbox)
    monkeypatch.setattr(site_loss, "SiteLoss", lost)
    protocol = protocol_of()
    monkeypatch.setattr(site_loss, "require", lambda site, word, fsid: None)
    second = SecondSite(Cluster("second"), Path("/run/killed.asok"))
    protocol.bench.site = Site("s", "S", "", Cluster("c"), Pools(Pool("replay")), frozenset(), second)
    protocol.bench.session = SimpleNamespace(fsid=lambda: FSID)
    with pytest.raises(ending) if ending else nullcontext(), protocol.driver.loss() as loss:
        assert loss == "left"
        if ending:
            raise ending
    assert PollAge(protocol.bench).daemon.admin_socket == Path("/run/started.asok")
    assert protocol.target.copies.require_daemon().admin_socket == Path("/run/started.asok")


@pytest.mark.parametrize(("stretch", "kills"), [(False, True), (True, False)])
def test_a_first_write_that_hangs_after_its_promotion_ends_when_the_mirror_daemon_is_killed(tmp_path, stretch, kills):
    trial = object.__new__(Trial)
    trial.bench = SimpleNamespace(say=lambda line: None)
    trial.plan = SimpleNamespace(promote_patience_seconds=-1.0, stretch=stretch)
    trial.log, trial.loss, trial.daemons_stopped = StepLog({}, programs=HOST_PROGRAMS), Loss(tmp_path / "flag"), 3
    answer = b'{"ready": true}\n{"acknowledged_seconds": 3.0, "attempts": 1, "refused": []}\n'
    standby = SimpleNamespace(send=lambda data: None, stdout=lambda: answer, end=lambda: None)
    trial._await = lambda program, condition, what: condition() or pytest.fail("the write is there")
    trial._first_write(standby)
    assert trial.loss.mirror_daemon_killed is kills
    assert [line["step"] for line in trial.log.lines] == (["mirror_daemon_killed"] if kills else []) + ["first_write"]
