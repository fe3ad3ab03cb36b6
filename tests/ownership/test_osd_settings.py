"""Settings of OSDs change only on own clusters, are in the ledger before, and are restored after any end."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.base.errors import RefusedError, ReplayError
from replay.cluster import sandbox_record
from replay.ownership.daemon_settings import OsdSettings
from replay.ownership.ledger import Ledger
from support.bench import bench_of

FSID = "0f0f0f0f-0000"
CAP = "osd_client_message_size_cap"


class Monitors:
    """A cluster of three OSDs that remembers its settings."""

    cluster = SimpleNamespace(name="primary")

    def __init__(self, ledger):
        self.ledger = ledger
        self.osds = {f"osd.{n}": {"crush_weight": 0.5, "primary_affinity": 1.0} for n in range(3)}
        self.config: dict[tuple[str, str], str] = {}
        self.fails = ""
        self.changes = 0

    def fsid(self):
        return FSID

    def command(self, command):
        prefix = command["prefix"]
        if prefix == "osd tree":
            osds = [{"id": int(name[4:]), "name": name, "type": "osd", **one} for name, one in self.osds.items()]
            return {"nodes": [{"id": -1, "name": "default", "type": "root"}, *osds]}
        if prefix == "config dump":
            return [{"section": who, "name": n, "mask": "", "value": v} for (who, n), v in self.config.items()]
        if prefix == self.fails:
            raise ReplayError("error 5: it does not answer", where=prefix)
        assert self.ledger.owned(), "in the ledger first"
        self.changes += 1
        if prefix == "osd crush reweight":
            self.osds[command["name"]]["crush_weight"] = command["weight"]
        elif prefix == "osd primary-affinity":
            self.osds[f"osd.{command['id']:d}"]["primary_affinity"] = command["weight"]
        elif prefix == "config set":
            self.config[command["who"], command["name"]] = command["value"]
        elif prefix == "config rm":
            del self.config[command["who"], command["name"]]
        return None


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox_record, "owns_fsid", lambda fsid, directory=None: fsid == FSID)

    def of(allows=("crush", "osd_config"), fsid=FSID):
        ledger = Ledger(FSID, directory=tmp_path)
        site = SimpleNamespace(name="s", allows=set(allows), fsid=fsid, second_site=None)
        return OsdSettings(bench_of(site, Monitors(ledger), ledger=ledger))

    return of


def state(made):
    monitors = made.bench.session
    return {name: dict(one) for name, one in monitors.osds.items()}, dict(monitors.config)


def test_every_setting_is_restored_even_if_it_was_changed_more_than_once(settings):
    made = settings()
    made.bench.session.config["osd.1", CAP] = "7"
    before = state(made)
    for weight, affinity, cap in ((1.0, 0.5, "65536"), (2.0, 0.0, "1048576")):
        *_, last = made.osds()
        assert made.set_weight(last, weight) and made.set_affinity(last, affinity)
        assert made.set_config("osd", CAP, cap) and made.set_config("osd.1", CAP, cap)
    assert len(made.bench.ledger.owned()) == 4, "what stood before the first change, once a setting"
    assert made.restore() == 4
    assert state(made) == before
    assert made.bench.ledger.owned() == []


def test_a_setting_that_is_already_right_is_left_alone(settings):
    made = settings()
    first, *_ = made.osds()
    assert not made.set_weight(first, 0.5 + 2**-20) and not made.set_affinity(first, 1.0)
    made.set_config("osd", CAP, "1")
    changes = made.bench.session.changes
    assert not made.set_config("osd", CAP, "1")
    assert made.bench.session.changes == changes


def test_a_single_option_can_be_restored(settings):
    made = settings()
    made.set_config("osd", CAP, "1")
    made.set_config("osd.2", CAP, "2")
    assert made.restore_config("osd.2", CAP)
    assert made.bench.session.config == {("osd", CAP): "1"}
    assert not made.restore_config("osd.2", CAP)


def test_after_a_crash_before_the_change_restoring_does_no_harm(settings):
    made = settings()
    made.bench.session.fails = "osd crush reweight"
    with pytest.raises(ReplayError):
        made.set_weight(made.osds()[0], 1.0)
    [entry] = made.bench.ledger.owned()
    assert (entry.kind, entry.name, entry.details, entry.confirmed) == ("crush_weight", "osd.0", {"before": 0.5}, False)
    made.bench.session.fails = ""
    assert made.restore() == 1
    assert made.bench.session.osds["osd.0"]["crush_weight"] == 0.5


def test_a_setting_that_cannot_be_restored_stays_in_the_ledger_and_is_an_error(settings):
    made = settings()
    made.set_affinity(made.osds()[0], 0.0)
    made.bench.session.fails = "osd primary-affinity"
    with pytest.raises(ReplayError, match="could not be restored") as raised:
        made.restore()
    assert raised.value.where == "primary_affinity osd.0"
    assert len(made.bench.ledger.owned()) == 1


def test_an_osd_that_is_gone_has_nothing_to_restore(settings):
    made = settings()
    made.set_weight(made.osds()[2], 1.0)
    del made.bench.session.osds["osd.2"]
    assert made.restore() == 1
    assert made.bench.ledger.owned() == []


def test_settings_of_another_site_are_not_touched(settings):
    made = settings()
    made.bench.ledger.intend("crush_weight", "", "", "osd.0", site="another", details={"before": 3.0})
    assert made.restore() == 0
    assert made.bench.session.osds["osd.0"]["crush_weight"] == 0.5


@pytest.mark.parametrize(("allows", "fsid"), [(("osd_config",), FSID), (("crush", "osd_config"), "ffffffff-9999")])
def test_a_site_that_does_not_allow_it_or_that_replay_did_not_start_is_refused(settings, allows, fsid):
    made = settings(allows, fsid)
    with pytest.raises(RefusedError, match="crush is refused"):
        made.set_weight(made.osds()[0], 1.0)
    with pytest.raises(RefusedError, match="crush is refused"):
        made.set_affinity(made.osds()[0], 0.0)
    assert (made.bench.session.changes, made.bench.ledger.owned()) == (0, [])


def test_options_are_refused_in_the_same_way(settings):
    made = settings(("crush",))
    with pytest.raises(RefusedError, match="osd_config is refused"):
        made.set_config("osd", CAP, "1")
    assert made.bench.ledger.owned() == []
