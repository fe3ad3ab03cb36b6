"""An experiment's file may only say what its protocol declares; everything else is refused with its place."""

from __future__ import annotations

import copy
import json

import pytest
import yaml

from replay.base.errors import ConfigurationError
from replay.base.paths import ROOT, config_directory
from replay.cluster.site import NO_OSD_CONFIG
from replay.design.configuration import experiment_names, load_experiment, load_experiment_document
from replay.design.design import plan_digest
from replay.design.expansion import expand, narrowed
from replay.design.needs import (
    FLAG,
    NUMBER,
    REQUIRED,
    TEXT,
    WHOLE,
    Option,
    check_experiment,
    needs_of,
    protocol_class,
    protocol_names,
)
from replay.protocols.observers.daemons import CellCounters, SteadyDaemons
from replay.tools import find_reader


@pytest.mark.parametrize("name", experiment_names())
def test_every_shipped_experiment_says_only_what_its_protocol_knows(name):
    document = load_experiment_document(name)
    check_experiment(document.data, document.where)


#: The data sets that ship; together they hold every experiment but these, of which not every cell is measured yet.
SHIPPED = ("tentacle", "stretch")
WAITING = (
    *("write-latency-poll", "replica-lag-large"),
    *("distance-price", "distance-price-large", "distance-loss", "distance-replay"),
)


@pytest.mark.parametrize("name", [name for name in experiment_names() if name not in WAITING])
def test_the_cells_of_a_shipped_experiment_are_those_that_were_measured(name):
    recorded = [
        json.loads(path.read_text())
        for data_set in SHIPPED
        for path in (ROOT / "benchmarks" / data_set / name / "raw").glob("design-*.json")
    ]
    assert recorded
    # All of an experiment may have been skipped on that machine.
    if measured := {cell for one in recorded for cell in one["cells"]}:
        design = expand(load_experiment(name), "talk", missing={NO_OSD_CONFIG: "it was a sandbox"})
        assert {cell.cell_id for one in design.sets for cell in one.cells} <= measured


@pytest.mark.parametrize("name", protocol_names())
def test_every_protocol_declares_itself(name):
    needs = needs_of(name)
    assert needs.programs, "preflight looks for them"
    assert all(find_reader(tool) is not None for tool in needs.tools)
    names = [one.name for one in (*needs.options, *needs.factors)]
    assert len(names) == len(set(names)), "one name, one meaning"
    for option in needs.options:
        assert option.default is REQUIRED or option.takes(option.default) or option.default == ""
    assert protocol_class(name).__doc__, "docs/adding-an-experiment.md takes its first line"


@pytest.mark.parametrize("name", protocol_names())
def test_a_protocol_that_reads_the_counters_of_osds_declares_it(name):
    reads = any(isinstance(observer, CellCounters | SteadyDaemons) for observer in protocol_class(name).observers)
    assert needs_of(name).osd_counters in (("may", "must") if reads else ("never",))


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """Write a changed experiment and return the error."""

    def of(name, change):
        raw = copy.deepcopy(load_experiment(name))
        change(raw)
        folder = tmp_path / "experiments"
        folder.mkdir(exist_ok=True)
        path = folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(raw, sort_keys=False))
        monkeypatch.setenv("REPLAY_CONFIG", str(tmp_path))
        document = load_experiment_document(name)
        with pytest.raises(ConfigurationError) as caught:
            check_experiment(document.data, document.where)
        monkeypatch.delenv("REPLAY_CONFIG")
        assert config_directory() == ROOT / "config"
        file, _, line = caught.value.where.rpartition(":")
        return caught.value, file == str(path), path.read_text().splitlines()[int(line) - 1]

    return of


@pytest.mark.parametrize(
    ("change", "said", "line", "hint"),
    [
        (
            lambda raw: raw["options"].update(io_thread=4),
            "options.io_thread: single_tool has no such option",
            "io_thread: 4",
            "did you mean 'io_threads'?",
        ),
        (
            lambda raw: raw["scales"]["quick"].update(options={"one_passs": True}),
            "scales.quick.options.one_passs",
            "one_passs: true",
            "did you mean 'one_pass'?",
        ),
        (
            lambda raw: raw["options"].update(io_threads=True),
            "options.io_threads: expected a whole number above 0, found True",
            "io_threads: true",
            "",
        ),
        (
            lambda raw: raw["options"].update(one_pass="yes"),
            "options.one_pass: expected true or false, found 'yes'",
            "one_pass: 'yes'",
            "",
        ),
        (
            lambda raw: raw["factors"].update(io_thread=[1, 2]),
            "factors.io_thread: single_tool does not use this factor",
            "io_thread:",
            "did you mean 'io_threads'?",
        ),
        (
            lambda raw: raw["factors"].update(io_threads=[1, 0]),
            "factors.io_threads: expected a whole number above 0, found 0",
            "io_threads:",
            "",
        ),
        (
            lambda raw: raw["factors"].update(io_type=["wriet"]),
            "factors.io_type: 'wriet' is not one of read, write",
            "io_type:",
            "did you mean 'write'?",
        ),
        (
            lambda raw: raw["variants"][0].update(levels={"one_pass": 1}),
            "variants.0.levels.one_pass: single_tool does not use this factor",
            "one_pass: 1",
            "",
        ),
        (lambda raw: raw["factors"].pop("io_pattern"), "needs the factor `io_pattern`", "factors:", ""),
        (
            lambda raw: raw["factors"].update(io_size_bytes=["4K"]),
            "factors.io_size_bytes: expected a whole number above 0, found '4K'",
            "io_size_bytes:",
            "without a unit",
        ),
        (
            lambda raw: raw["factors"].update(io_size_bytes=[4096.5]),
            "factors.io_size_bytes: expected a whole number above 0, found 4096.5",
            "io_size_bytes:",
            "without a unit",
        ),
        (
            lambda raw: raw["variants"][0].update(levels={"rw_mix_read": -1}),
            "variants.0.levels.rw_mix_read: expected a whole number of at least 0, found -1",
            "rw_mix_read: -1",
            "without a unit",
        ),
    ],
)
def test_an_option_or_factor_unknown_to_the_protocol_is_refused_with_its_line(refused, change, said, line, hint):
    error, is_named, where = refused("rbd-journaling", change)
    assert said in error.what
    assert is_named
    assert line in where
    assert hint in error.next_step


@pytest.mark.parametrize(
    ("io_type", "said"), [("randwrite", "says the pattern itself"), ("randwrit", "is not one of read")]
)
def test_a_pattern_is_said_once(refused, io_type, said):
    error, is_named, where = refused(
        "client-sweep", lambda raw: raw["factors"].update(io_type=[io_type], io_pattern=["rand"])
    )
    assert said in error.what and "write" in error.next_step
    assert is_named and "io_type:" in where


def test_a_pattern_of_another_variant_is_none_of_this_one():
    raw = copy.deepcopy(load_experiment("client-sweep"))
    first, second = raw["variants"]
    first["levels"], second["levels"] = {"io_type": "randwrite"}, {"io_type": "write", "io_pattern": "rand"}
    check_experiment(raw)
    first["levels"] = {"io_type": "randwrite", "io_pattern": "rand"}
    with pytest.raises(ConfigurationError, match=r"variants.0.levels.io_type: 'randwrite' says the pattern itself"):
        check_experiment(raw)
    first["levels"] = {"io_pattern": "rand"}
    with pytest.raises(ConfigurationError, match=r"factors.io_type: 'randwrite' says the pattern itself"):
        check_experiment(raw)


def test_an_option_without_a_default_is_a_level_of_every_variant_or_of_none():
    raw = copy.deepcopy(load_experiment("failover"))
    rate = raw["options"].pop("writes_per_second")
    first, second = raw["variants"]
    first["levels"] = {"writes_per_second": rate}
    with pytest.raises(ConfigurationError, match=r"options.writes_per_second: this option is missing"):
        check_experiment(raw)
    second["levels"] = {"writes_per_second": 2 * rate}
    check_experiment(raw)


def test_a_pattern_that_fio_does_not_have_is_refused(refused):
    error, _, where = refused(
        "client-sweep", lambda raw: raw["factors"].update(io_type=["write"], io_pattern=["full-seq"])
    )
    assert "factors.io_pattern: 'full-seq' is not one of rand, seq" in error.what
    assert "io_pattern:" in where


@pytest.mark.parametrize("name", ["baseline", "layers"])
def test_tools_of_several_kinds_have_one_depth_as_a_level(refused, name):
    error, _, _ = refused(name, lambda raw: raw["factors"].pop("io_depth"))
    assert f"{name} needs the factor `io_depth`" in error.what
    error, _, _ = refused(name, lambda raw: raw["options"].update(io_depth=4))
    assert f"options.io_depth: {name} has no such option" in error.what


@pytest.mark.parametrize(
    ("name", "factor", "levels"),
    [
        ("device-class", "device_class", ["fast", "capped"]),
        ("device-class", "journal_class", ["fast", "capped"]),
        ("kernel-client", "client", ["librbd", "kernel"]),
        ("kernel-client", "file_system", ["ext4", "xfs"]),
        ("layers", "layer", ["disk", "objects"]),
        ("layers", "copies", ["one", "all"]),
        ("rados-bench", "replicas", [1, 3]),
        ("journal-clients", "journal_pool", ["data", "own"]),
    ],
)
def test_a_level_for_which_something_is_made_comes_from_variants_alone(refused, name, factor, levels):
    error, is_named, where = refused(name, lambda raw: raw["factors"].update({factor: levels}))
    assert f"factors.{factor}: " in error.what and "takes this level from variants only" in error.what
    assert is_named
    assert f"{factor}:" in where
    assert error.next_step == "set it in each variant's `levels`"


def test_a_tool_that_a_protocol_cannot_run_is_refused(refused):
    error, _, where = refused("client-sweep", lambda raw: raw.update(tool="rbd-bench"))
    assert (error.what, where) == ("multi_client runs fio, not rbd-bench", "tool: rbd-bench")


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [(WHOLE, [1, 7], [0, -1, 1.5, True, "1"]), (NUMBER, [1, 0.5], [0, True, "1"]), (TEXT, ["", "a"], [1, True]),
     (FLAG, [True, False], [0, 1, "true"])],
)  # fmt: skip
def test_an_option_takes_only_values_of_its_kind(kind, good, bad):
    option = Option("name", kind, "", "meaning")
    assert all(option.takes(value) for value in good)
    assert not any(option.takes(value) for value in bad)
    assert Option("name", kind, "", "meaning", can_be_zero=True).takes(0) == (kind in (WHOLE, NUMBER))


@pytest.fixture(scope="module")
def design():
    return expand(load_experiment("rbd-journaling"), "talk")


def levels_of(design, factor):
    return {one.levels[factor] for one in design.sets}


def test_only_the_sets_at_a_level_are_measured(design):
    one = narrowed(design, ["io_size_bytes=65536"])
    assert levels_of(one, "io_size_bytes") == {65536}
    assert list(one.sets) == [made for made in design.sets if made.levels["io_size_bytes"] == 65536]
    assert len(one.sets) + len(one.left_out) == len(design.sets)


def test_levels_of_one_factor_are_alternatives_and_several_factors_all_fit(design):
    several = narrowed(design, ["io_size_bytes=4096", "io_size_bytes=65536", "io_type=write"])
    assert levels_of(several, "io_size_bytes") == {4096, 65536}
    assert levels_of(several, "io_type") == {"write"}
    assert levels_of(several, "io_pattern") == levels_of(design, "io_pattern")


def test_the_design_that_is_recorded_is_the_whole_one_and_the_block_is_named_by_what_it_measures(design):
    one = narrowed(design, ["io_size_bytes=65536"])
    assert one.digest == design.digest
    assert one.public()["cells"] == design.public()["cells"]
    assert plan_digest(one, 1) != plan_digest(design, 1)


def test_without_levels_nothing_is_left_out(design):
    assert narrowed(design, []) is design


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("io_sise_bytes=4096", "no factor 'io_sise_bytes'; its factors are .*did you mean 'io_size_bytes'"),
        ("io_size_bytes=98304", "no level '98304' of io_size_bytes at scale talk; it has 4096, .*add it to the factor"),
        ("io_size_bytes", "no level ''"),
    ],
)
def test_a_factor_or_level_that_the_design_lacks_is_refused(design, wanted, said):
    with pytest.raises(ConfigurationError, match=f"(?s){said}") as error:
        narrowed(design, [wanted])
    assert f"--only {wanted}" in str(error.value)
