"""Weights, affinity and throttles: set for a cell, awaited, measured, and restored after any end."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError, ReplayError
from replay.cluster.running import ToolRun
from replay.design.configuration import load_experiment
from replay.evidence.record import Wait
from replay.measure.bench import MachineReading
from replay.ownership.daemon_settings import Osd
from replay.protocols import placement
from replay.protocols.drivers.rados_bench import Rounds
from replay.protocols.placement import BALANCER, MESSAGE_CAP, SIZE_CAP, PlacedRounds, PlacementProtocol
from replay.protocols.targets.objects import POOL_EMPTIED
from replay.tools.placement import ROLES
from support.bench import bench_of, cell, design_of, site_of
from support.made_up_output import placement_files, rados_json
from support.patience import patient
from support.smoke import measure_as_shipped

GROUPS = [[0, 2], [1, 2], [2, 0], [0, 1]]
USUAL = {"bytes": 524288000, "messages": 256}


class Settings:
    """Three OSDs that obey, except for options that a release reads only at its start."""

    def __init__(self):
        self.there = {n: Osd(n, f"osd.{n}", 0.25, 1.0) for n in range(3)}
        self.config: dict[tuple[str, str], str] = {}
        self.deaf = False
        self.restored = 0

    def osds(self):
        return list(self.there.values())

    def set_weight(self, osd, weight):
        self.there[osd.number] = Osd(osd.number, osd.name, weight, self.there[osd.number].primary_affinity)
        return osd.weight != weight

    def set_affinity(self, osd, affinity):
        self.there[osd.number] = Osd(osd.number, osd.name, self.there[osd.number].weight, affinity)
        return osd.primary_affinity != affinity

    def set_config(self, who, name, value):
        changed = self.config.get((who, name)) != value
        self.config[who, name] = value
        return changed

    def restore_config(self, who, name):
        return self.config.pop((who, name), None) is not None

    def restore(self):
        self.restored += 1

    def throttles(self, session, osd):
        found = dict(USUAL)
        for name, throttle in ((SIZE_CAP, "bytes"), (MESSAGE_CAP, "messages")):
            for who in ("osd", f"osd.{osd}"):
                if (who, name) in self.config and not self.deaf:
                    found[throttle] = int(self.config[who, name])
        return found


def removed(objects, outcome="removed"):
    return Wait("objects_removed", 0.1, outcome, {"objects": objects})


@pytest.fixture
def make(monkeypatch):
    """Make a protocol whose cluster is `protocol.settings`, whose tool ends at once, and whose data are in GROUPS."""

    def of(experiment="placement", *, balancer=True, **changes):
        sampler = SimpleNamespace(read=lambda: None)
        bench = bench_of(site_of(), sampler=sampler, daemons_are_here=True)
        made = PlacementProtocol(bench, design_of(experiment, **changes))
        made.settings = made.target.settings = Settings()
        made.removed, made.waited, made.fills = [], [], []
        monkeypatch.setattr(placement, "throttles", made.settings.throttles)
        monkeypatch.setattr(placement, "balancer_runs", lambda session: balancer)
        monkeypatch.setattr(placement, "create_pool", lambda *_, **__: "own")
        monkeypatch.setattr(placement, "await_calm", lambda session, sleep: made.removed.append("calm") or "")
        monkeypatch.setattr(placement, "await_pools", lambda bench, pools: None)
        monkeypatch.setattr(placement, "remove_leftover_pools", lambda bench: made.removed.append("pool"))

        def wait(session, pool, objects, *, quiet_seconds, sleep):
            made.waited.append((objects, quiet_seconds))
            return Wait("placement_stable", 1.0, "stable")

        monkeypatch.setattr(placement, "await_stable", wait)
        made.target.fill = made.fills.append
        made.target.remove = lambda pool, names: removed(17)
        made.objects_each = None

        def read(session, pool):
            known = made.objects_each if made.objects_each is not None else made.target.filled / len(GROUPS)
            weights = {n: one.weight for n, one in made.settings.there.items()}
            files = placement_files(GROUPS, weights, objects=known)
            return {role: (ROLES[role], text.encode()) for role, text in files.items()}

        def rounds(self, cell, *_):
            kind = "write" if cell.levels["mode"] == "write" else "read"
            text = rados_json(kind, 4000, 3.0, cell.levels["object_size_bytes"])
            run, reading = ToolRun(b"hints = 1\n", b"", 0, "a", "b", 3.0), MachineReading(0, 0, (), 0.0)
            return Rounds([[run]], {"output": ("result.json", text.encode())}, [(reading, reading)])

        monkeypatch.setattr(placement, "placement_files", read)
        monkeypatch.setattr(PlacedRounds, "run_rounds", rounds)
        made.open_block(Path("raw"), made.design.sets)
        return made

    return of


def test_a_pool_is_filled_with_the_objects_for_reads(make):
    protocol = make()
    [fill] = protocol.fills
    assert (fill.objects, fill.object_size_bytes, protocol.target.filled) == (2048, 65536, 2049)
    assert protocol.bench.budget.media_bytes(fill.write) == 2 * 2048 * 65536, "two copies"


def test_if_nothing_is_read_nothing_is_filled(make):
    protocol = make("osd-throttle")
    assert (protocol.fills, protocol.target.filled) == ([], 0)


def test_the_last_osd_gets_twice_the_weight_and_the_affinity_of_the_cell(make):
    protocol = make()
    [wait] = protocol.prepare(cell(protocol, "unequal-0.5", "read"))
    weights = [one.weight for one in protocol.settings.osds()]
    assert (weights, protocol.settings.there[2].primary_affinity) == ([0.25, 0.25, 0.5], 0.5)
    assert wait.details["changed"] == ["crush_weight osd.2", "primary_affinity osd.2"]
    protocol.prepare(cell(protocol, "equal-1", "read"))
    assert [(one.weight, one.primary_affinity) for one in protocol.settings.osds()] == [(0.25, 1.0)] * 3


def test_a_cell_waits_for_its_placement_and_for_every_object(make):
    protocol = make()
    assert protocol.prepare(cell(protocol, "equal-1", "read"))[0].reason == "placement_stable"
    assert protocol.waited == [(2049, 0)]
    protocol.prepare(cell(protocol, "unequal-1", "read"))
    assert protocol.waited[-1] == (2049, placement.QUIET_SECONDS), "data move"


def test_only_the_slow_variant_throttles_the_last_osd_and_the_next_cell_restores_it(make):
    protocol = make()
    protocol.prepare(cell(protocol, "equal-1", "read-slow"))
    assert protocol.settings.config == {BALANCER: "false", ("osd.2", MESSAGE_CAP): "1"}
    [wait] = protocol.prepare(cell(protocol, "equal-1", "write"))
    assert (protocol.settings.config, wait.details["changed"]) == ({BALANCER: "false"}, [f"{MESSAGE_CAP} osd.2"])


def test_a_balancer_that_the_manager_cannot_run_is_left_alone(make):
    protocol = make("osd-throttle", balancer=False)
    protocol.prepare(cell(protocol, "8388608", "write-4m"))
    assert protocol.settings.config == {("osd", SIZE_CAP): "8388608"}


@pytest.mark.parametrize("can_run", [True, False])
def test_the_manager_says_whether_it_can_run_the_balancer(can_run):
    modules = [{"name": "alerts", "can_run": not can_run}, {"name": "balancer", "can_run": can_run}]
    session = SimpleNamespace(command=lambda command: {"available_modules": modules})
    assert placement.balancer_runs(session) is can_run


def test_an_option_that_an_osd_does_not_adopt_is_an_error_and_nothing_is_measured(make, monkeypatch):
    protocol = make("osd-throttle")
    protocol.settings.deaf = True
    monkeypatch.setattr(placement, "OPTION_WITHIN_SECONDS", 0.0)
    with pytest.raises(ReplayError, match="still limits clients to 524288000 bytes instead of 8388608"):
        protocol.prepare(cell(protocol, "8388608", "write-4m"))


def test_a_cell_keeps_the_tools_output_and_the_placement_of_the_data(make):
    protocol = make()
    one = cell(protocol, "equal-1", "read")
    measured = protocol.run(one, 1)
    assert measured.invalid is None
    assert {"output", "groups", "tree", "usage"} < set(measured.results)
    assert measured.headline.endswith("1 primaries")
    assert measured.facts == {"replicas": 2, "objects_in_pool": 2049}
    assert "{pool}" in measured.argv and "rand" in measured.argv
    assert protocol.restore(one, measured) == [], "a read leaves nothing"


def test_a_write_removes_what_it_wrote_and_is_charged(make):
    protocol = make()
    one = cell(protocol, "equal-1", "write")
    before = protocol.bench.budget.total()
    measured = protocol.run(one, 1)
    [wait] = protocol.restore(one, measured)
    assert (wait.reason, wait.details) == ("objects_removed", {"objects": 17})
    assert protocol.bench.budget.total() - before == 2 * 4000 * 65536, "two copies"
    assert measured.argv[measured.argv.index("--max-objects") + 1] == "32768", "bounded by bytes"


def test_a_pool_that_had_to_be_emptied_ends_the_block(make):
    protocol = make()
    protocol.target.remove = lambda pool, names: removed(1, POOL_EMPTIED)
    one = cell(protocol, "equal-1", "write")
    with pytest.raises(ReplayError, match="the whole pool was emptied"):
        protocol.restore(one, protocol.run(one, 1))


def test_a_placement_that_does_not_know_all_objects_makes_the_cell_void(make):
    protocol = make()
    protocol.objects_each = 1
    measured = protocol.run(cell(protocol, "equal-1", "read"), 1)
    assert measured.invalid == ("incomplete", "placement groups report 4 of 2049 objects")


def test_closing_restores_the_settings_and_removes_the_pool(make):
    protocol = make()
    protocol.close_block()
    assert (protocol.settings.restored, protocol.removed) == (1, ["pool", "calm"])


def test_the_pool_is_removed_even_if_a_setting_could_not_be_restored(make):
    protocol = make()

    def fails():
        raise ReplayError("1 setting(s) could not be set back")

    protocol.settings.restore = fails
    with pytest.raises(ReplayError, match="could not be set back"):
        protocol.close_block()
    assert protocol.removed == ["pool", "calm"]


def test_as_many_copies_as_osds_are_refused_because_nothing_is_left_to_place(make):
    options = {**load_experiment("placement")["options"], "replicas": 3}
    with pytest.raises(ConfigurationError, match=r"with 3 OSDs and .* copies, every OSD holds every object"):
        make(options=options)


@pytest.mark.parametrize(
    ("affinity", "said"), [(2, "2 is not a number between 0 and 1"), ("0.5", "expected a number of at least 0")]
)
def test_an_affinity_that_is_no_number_up_to_one_is_refused(make, affinity, said):
    scale = {"quick": {"blocks": 1, "target_seconds": 1}}
    factors = {"weights": ["equal"], "primary_affinity": [affinity]}
    with pytest.raises(ConfigurationError, match=said):
        make(factors=factors, scales=scale)


# On a real cluster ----------------------------------------------------------------------------------------------


def settings_of(campaign):
    """Return what this protocol may change: pools, weights, affinities, and the monitors' configuration."""
    tree = campaign.ask("left", "osd tree")["nodes"]
    return {
        "pools": sorted(campaign.ask("left", "osd pool ls")),
        "osds": {one["name"]: (one["crush_weight"], one["primary_affinity"]) for one in tree if one["type"] == "osd"},
        "config": sorted(
            (one["section"], one["name"], one["value"])
            for one in campaign.ask("left", "config dump")
            if one["name"] in (SIZE_CAP, MESSAGE_CAP, BALANCER[1])
        ),
    }


@pytest.fixture
def untouched(campaign):
    before = settings_of(campaign)
    yield
    assert settings_of(campaign) == before, "a test left a setting or a pool behind"


@pytest.mark.sandbox
@pytest.mark.of_release
@pytest.mark.slow
@pytest.mark.usefixtures("untouched")
def test_blocks_move_primaries_away_and_set_a_throttle_and_leave_every_setting_as_it_was(campaign):
    measure_as_shipped(
        campaign,
        "placement",
        "osd-throttle",
        factors={"weights": ["unequal"], "primary_affinity": [1, 0]},
        only={"read-slow": {"primary_affinity": [0]}, "write": {"primary_affinity": [0]}},
    )
    assert_primaries_moved(campaign)
    assert_the_throttle_was_set_once(campaign)


def assert_primaries_moved(campaign):
    from replay.derive.experiment import write_entities  # imports pandas, which each worker would

    good = [one for one in campaign.sidecars("placement") if one["valid"]]
    # A set is run again, whole, if one of its cells was void.
    assert len({one["cell_id"] for one in good}) == 4
    assert all("placement_stable" in {wait["for"] for wait in one["waits"]} for one in good)
    folder = campaign.raw("placement").parent
    rows = [line.split(",") for line in (folder / "aggregate" / "last-osd-primaries-unequal.csv").read_text().split()]
    primaries = {(row[-5]): float(row[-4]) for row in rows if len(row) >= 6 and row[0] != "series"}
    assert primaries["0"] == 0 < primaries["1"]
    deviations = (folder / "aggregate" / "primaries-deviation-unequal.csv").read_text().splitlines()
    assert "Affinity 0,2,-1,-1,-1,1" in deviations
    write_entities(folder)
    assert (folder / "entities.csv").read_text().count("primary_affinity") >= 4 * 3


def assert_the_throttle_was_set_once(campaign):
    waits = [wait for one in campaign.sidecars("osd-throttle") for wait in one["waits"]]
    *others, set_once = sorted(wait["changed"] for wait in waits if "changed" in wait)
    assert set_once == [f"{SIZE_CAP} osd"]
    assert others and not any(others), "both cells are in one block, also if their set was run again"


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.usefixtures("untouched")
def test_clean_restores_what_a_killed_run_had_changed(campaign):
    campaign.configure("placement", target_seconds=60)
    run = campaign.start_block("placement")
    campaign.wait_for(lambda: campaign.processes("rados", "bench", "--max-objects", "8192") or
                      campaign.processes("rados", "bench", "rand"), "the benchmark")  # fmt: skip
    os.kill(campaign.runner("placement"), signal.SIGKILL)
    run.communicate(timeout=patient(60))
    changed = settings_of(campaign)
    assert changed["osds"]["osd.2"][1] == 0, "the kill came before anything was set, and this test proves nothing"
    done = campaign.run("clean", "--site", "sandbox", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
