"""Two data sets side by side: their differences, and whether these are more than noise."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from statistics import fmean, variance

import pytest

from replay.base.stats import t_quantile, welch_difference
from replay.claims.brief import NO_INTERVAL, ratio_lines
from replay.claims.command import comparison_parts
from replay.claims.documents import comparison_document
from replay.claims.evaluate import compare
from replay.claims.judge import judge_data_set
from replay.claims.model import NOT_MEASURED, SETUP_CHECK, Assessment, Region
from support.claims import claim_of, condition, judged, printed, rows, write_tidy
from support.commands import run_claims


def data_sets(tmp_path, first, second):
    """Two data sets, each as (ratio, further arguments)."""
    made = []
    for name, (ratio, more) in {"mine": first, "theirs": second}.items():
        made.append(judge_data_set(write_tidy(tmp_path / name, ratio, **more)))
    return made


def the_ratio(first, second):
    (one,) = (one for one in compare(first, second) if one.claim.id == "journal-4k-seq-write")
    return one, one.conditions[0]


def test_a_difference_beyond_noise_is_reported_and_verdicts_that_differ_are_marked(tmp_path):
    first, second = data_sets(tmp_path, (10, {}), (2, {"seed": 2}))
    claim, found = the_ratio(first, second)
    assert claim.verdicts_differ
    assert [one.verdict for one in claim.judgements] == ["held", "refuted"]
    assert found.ratio == pytest.approx(5, rel=0.06)
    assert found.low < found.ratio < found.high
    assert found.more_than_noise is True
    table = printed(comparison_parts(first, second)).splitlines()
    (marked,) = (line for line in table if "journal-4k-seq-write)" in line)
    assert marked.startswith("≠ ")
    assert any("more than noise" in line and line.strip().startswith("ratio") for line in table)


def test_a_difference_that_noise_explains_is_called_noise(tmp_path):
    first, second = data_sets(tmp_path, (2, {"noise": 0.2}), (2, {"noise": 0.2, "seed": 2}))
    claim, found = the_ratio(first, second)
    assert (claim.verdicts_differ, found.more_than_noise) == (False, False)
    assert found.low < 1 < found.high


def test_the_interval_is_welch_s_over_the_blocks_own_estimates(tmp_path):
    first, second = data_sets(tmp_path, (2, {"blocks": 6}), (2.2, {"seed": 3, "noise": 0.2}))
    _, found = the_ratio(first, second)
    logs = [[math.log(value) for value in one.blocks.values()] for one in found.results]
    assert [len(one) for one in logs] == [6, 10]
    expected = welch_difference(*logs)
    assert [math.log(found.low), math.log(found.high)] == pytest.approx([expected.low, expected.high])
    assert found.degrees_of_freedom == pytest.approx(expected.degrees_of_freedom)


def test_one_block_on_a_side_allows_no_interval(tmp_path):
    first, second = data_sets(tmp_path, (2, {}), (10, {"blocks": 1}))
    _, found = the_ratio(first, second)
    assert (found.low, found.more_than_noise) == (None, None)
    assert found.missing == "no interval is possible: one block in theirs"
    assert found.ratio == pytest.approx(0.2, rel=0.2)
    assert found.missing in printed(comparison_parts(first, second))


def test_a_claim_that_one_side_did_not_measure_is_reported(tmp_path):
    (tmp_path / "theirs").mkdir()
    first = judge_data_set(write_tidy(tmp_path / "mine", 2))
    second = judge_data_set(tmp_path / "theirs")
    claim, found = the_ratio(first, second)
    assert claim.verdicts_differ
    assert (found.results[1].verdict, found.results[1].estimate) == (NOT_MEASURED, None)
    assert found.missing == "not measured in theirs"


def test_a_side_in_which_a_block_has_no_ratio_is_called_so():
    one, data = claim_of(condition(Region(1, 5))), rows(2)
    lost = [{**row, "rate": "0"} if row["block"] == "2" else row for row in data]
    first, second = Assessment("mine", {}, (judged(one, data),)), Assessment("theirs", {}, (judged(one, lost),))
    assert compare(first, second)[0].conditions[0].missing == "no ratio in theirs"
    assert "not measured" not in printed(comparison_parts(first, second))


def test_ratios_of_independent_runs_have_welch_s_interval_over_all_four_samples():
    one = claim_of(replace(condition(Region(1, 5)), independent=True))
    logs, assessed = [], []
    for name, ratio, blocks in (("mine", 2, 4), ("theirs", 2.4, 3)):
        data = [
            {**row, "block": str(int(row["block"]) + blocks * (row["variant"] == "journal"))}
            for row in rows(ratio, blocks=blocks, seed=blocks, sizes=(4096,))
        ]
        assessed.append(Assessment(name, {}, (judged(one, data),)))
        for variant in ("plain", "journal"):
            logs.append([math.log(float(row["rate"])) for row in data if row["variant"] == variant])
    (found,) = compare(*assessed)[0].conditions
    parts = [variance(values) / len(values) for values in logs]
    freedom = sum(parts) ** 2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, logs, strict=True))
    means = [fmean(values) for values in logs]
    apart, half = means[0] - means[1] - means[2] + means[3], t_quantile(freedom + 1) * math.sqrt(sum(parts))
    ends = [math.log(value) for value in (found.ratio, found.low, found.high)]
    assert ends == pytest.approx([apart, apart - half, apart + half])
    assert (found.degrees_of_freedom, found.paired) == (pytest.approx(freedom), False)
    assert found.more_than_noise == (found.p_value < 0.05) == (abs(apart) > half)


def test_a_single_difference_may_be_noise_among_many():
    def assessment(name, ratio, conditions, seed):
        asked = (condition(Region(1, 5), name=f"question-{number}") for number in range(conditions))
        return Assessment(name, {}, (judged(claim_of(*asked), rows(ratio, blocks=6, seed=seed)),))

    def found(shift, conditions):
        first, second = assessment("mine", 2, conditions, 5), assessment("theirs", 2 * shift, conditions, 6)
        return compare(first, second)[0].conditions[0]

    shifts = [1 + step / 100 for step in range(1, 60)]
    shift = next(one for one in shifts if 0.003 < found(one, 1).p_value < 0.04)
    assert found(shift, 1).more_than_noise is True
    assert found(shift, 40).more_than_noise is False


def test_the_program_compares_as_a_table_and_as_json(benchmarks, capsys):
    first, second = data_sets(benchmarks, (10, {}), (2, {"seed": 2}))
    assert run_claims(["--data", "mine", "--against", "theirs"]) == 0
    assert "mine ÷ theirs" in capsys.readouterr().out
    assert run_claims(["--data", "mine", "--against", "theirs", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["data_set"], document["against"]) == ("mine", "theirs")
    one = document["claims"]["journal-4k-seq-write"]
    assert one["verdicts"] == {"data_set": "held", "against": "refuted"}
    assert one["conditions"]["ratio"]["more_than_noise"] is True
    assert document == comparison_document(first, second)


def test_exploratory_verdicts_are_marked_on_their_side_and_checks_of_the_set_up_come_last(tmp_path):
    first, second = data_sets(tmp_path, (10, {}), (2, {"seed": 2}))

    def one(assessment, exploratory, kind):
        (judgement,) = (one for one in assessment.judgements if one.claim.id == "journal-4k-seq-write")
        checked = replace(judgement.claim, id="our-cap", kind=SETUP_CHECK)
        claims = (replace(judgement, claim=checked, exploratory=""), replace(judgement, exploratory=exploratory))
        return replace(assessment, judgements=claims if kind == "both" else claims[1:])

    mine, theirs = one(first, "written later", "both"), one(second, "", "both")
    table = printed(comparison_parts(mine, theirs)).splitlines()
    places = [
        next(at for at, line in enumerate(table) if text in line) for text in ("-write)", "Checks of the", "cap)")
    ]
    assert places == sorted(places), "a check comes last, though it is listed first in the file"
    assert [line.split() for line in table if line.startswith("    verdict")] == [
        ["verdict", "HELD,", "exploratory", "REFUTED"],
        ["verdict", "HELD", "REFUTED"],
    ]
    assert table[-1].startswith("Exploratory: not registered")
    found = comparison_document(mine, theirs)["claims"]
    assert found["journal-4k-seq-write"]["exploratory"] == {"data_set": True, "against": False}
    assert [found[name]["kind"] for name in ("journal-4k-seq-write", "our-cap")] == ["claim", "setup_check"]

    mine, theirs = one(first, "", "claim"), one(second, "", "claim")
    plain = printed(comparison_parts(mine, theirs))
    assert "xploratory" not in plain
    assert "Checks of the set-up" not in plain


def test_a_comparison_says_which_ceph_and_client_measured_each(benchmarks, capsys):
    data_sets(benchmarks, (10, {}), (2, {"seed": 2}))
    setup = {"ceph_version": "18.2.4, 18.2.7", "librbd_version": "16.2.15"}
    (benchmarks / "mine" / "manifest.json").write_text(json.dumps({"setup": setup}))
    assert run_claims(["--data", "mine", "--against", "theirs"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == [
        "mine: Ceph 18.2.4 (reef), 18.2.7 (reef), client 16.2.15 (pacific)",
        "theirs: its versions are not recorded",
    ]
    assert run_claims(["--data", "mine", "--against", "theirs", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["measured_with"]
    assert document == {"data_set": "Ceph 18.2.4 (reef), 18.2.7 (reef), client 16.2.15 (pacific)", "against": None}


#: What slows the ratio of a block, on both sides alike.
DRIFT = (0.0, 0.4, -0.3, 0.2, -0.5, 0.3)


def in_blocks(name, ratio, *, hour=0, machines=("host-1",)):
    """An assessment of six blocks that drift, one every two hours from `hour` on, for one hour each.

    `machines` measured all blocks, or the blocks that a mapping names.
    """
    data = []
    for block, drift in enumerate(DRIFT, start=1):
        start = hour + 2 * (block - 1)
        noise = 0.01 * (-1) ** block * (1 if name == "mine" else 2)
        for variant, rate in (("plain", 1000.0), ("journal", 1000.0 / (ratio * math.exp(drift + noise)))):
            data.append(
                {
                    "used": "1",
                    "block": str(block),
                    "attempt": "1",
                    "point": "write-4096",
                    "cell": variant,
                    "variant": variant,
                    "io_type": "write",
                    "io_size_bytes": "4096",
                    "rate": str(rate),
                    "started_at": f"2026-01-01T{start:02}:00:00Z",
                    "ended_at": f"2026-01-01T{start:02}:50:00Z",
                }
            )
    judgement = judged(claim_of(condition(Region(1, 5))), data)
    if not isinstance(machines, dict):
        machines = {str(block): list(machines) for block in range(1, len(DRIFT) + 1)} if machines else {}
    return Assessment(name, {}, (judgement,), machines={"e": machines})


def test_blocks_that_one_host_measured_in_turns_are_pairs_and_their_drift_cancels_out():
    mine, theirs = in_blocks("mine", 2.2), in_blocks("theirs", 2.0, hour=1)
    (found,) = compare(mine, theirs)[0].conditions
    assert (found.paired, found.degrees_of_freedom, found.more_than_noise) == (True, 5, True)
    assert found.ratio == pytest.approx(1.1)
    assert 1 < found.low < 1.1 < found.high < 1.2
    table = printed(comparison_parts(mine, theirs))
    assert "more than noise, in pairs" in table
    assert "Student's t over pairs of blocks" in table
    document = comparison_document(mine, theirs)
    assert document["claims"]["c"]["conditions"]["ratio"]["interval"] == "paired"


def test_each_pair_of_blocks_may_have_been_measured_by_another_host():
    machines = {str(block): [f"host-{block % 2}"] for block in range(1, len(DRIFT) + 1)}
    mine, theirs = (in_blocks(name, 2.0, hour=hour, machines=machines) for name, hour in (("mine", 0), ("theirs", 1)))
    assert compare(mine, theirs)[0].conditions[0].paired
    moved = in_blocks("theirs", 2.0, hour=1, machines={**machines, "3": ["host-0"]})
    assert not compare(mine, moved)[0].conditions[0].paired


@pytest.mark.parametrize(
    "theirs",
    [
        {"hour": 12},
        {"hour": 1, "machines": ("host-2",)},
        {"hour": 1, "machines": ("host-1", "host-2")},
        {"hour": 1, "machines": ()},
    ],
    ids=["one after the other", "another host", "several hosts", "nobody knows which host"],
)
def test_blocks_that_share_no_drift_are_not_pairs(theirs):
    mine, other = in_blocks("mine", 2.2), in_blocks("theirs", 2.0, **theirs)
    (found,) = compare(mine, other)[0].conditions
    assert (found.paired, found.more_than_noise) == (False, False)
    assert "Welch's t;" in printed(comparison_parts(mine, other))


def test_an_expectation_is_about_the_data_set_and_not_about_the_other(benchmarks, capsys):
    data_sets(benchmarks, (10, {}), (2, {"seed": 2}))
    wanted = ["--data", "mine", "--against", "theirs", "--expect"]
    assert run_claims([*wanted, "held:journal-4k-seq-write"]) == 0
    assert run_claims([*wanted, "refuted:journal-4k-seq-write"]) == 1
    assert "expected refuted, found held" in capsys.readouterr().err


def test_a_data_set_is_not_compared_with_itself_or_with_none(benchmarks, capsys):
    write_tidy(benchmarks / "mine", 2.0)
    assert run_claims(["--data", "mine", "--against", "mine"]) == 2
    assert "the same data set" in capsys.readouterr().err
    assert run_claims(["--data", "mine", "--against", "nowhere"]) == 3


# The ratios of throughput in a terminal: the figures of the CSV files, and no others ----------------------------------


SPREAD = "series,x,low,high,min,max,n\n"


@pytest.fixture
def data_set(tmp_path):
    folder = tmp_path / "mine"
    aggregate = folder / "rbd-journaling" / "aggregate"
    aggregate.mkdir(parents=True)

    def write(name, *values):
        (aggregate / name).write_text(f"I/O size,4096,4194304,8388608\nWith journal,{','.join(values)}\n")

    write("ratio-throughput-write-seq.csv", "5.1584", "2.19", "")
    spread = "With journal,4096,4.8,5.5,,,2\nWith journal,4194304,,,,,1\n"
    (aggregate / "ratio-throughput-write-seq.spread.csv").write_text(f"{SPREAD}{spread}")
    write("ratio-latency-write-seq.csv", "9", "9", "9")
    return folder


def test_the_table_has_the_figures_that_derive_wrote(data_set):
    assert ratio_lines(data_set) == [
        "rbd-journaling: throughput of the reference ÷ throughput of …",
        "  write seq        4K                  4M     8M",
        "    With journal   5.16 [4.80, 5.50]   2.19   -",
        NO_INTERVAL,
        "",
    ]


def test_a_described_data_set_gives_the_names(data_set):
    variants = [{"label": "Without journal", "reference": True}, {"label": "With journal", "reference": False}]
    manifest = {"experiments": {"rbd-journaling": {"title": "RBD journaling", "variants": variants}}}
    (data_set / "manifest.json").write_text(json.dumps(manifest))
    assert ratio_lines(data_set)[0] == "RBD journaling: throughput of without journal ÷ throughput of …"


def test_every_ratio_with_an_interval_needs_no_remark(data_set):
    aggregate = data_set / "rbd-journaling" / "aggregate"
    spread = "".join(f"With journal,{size},1,2,,,3\n" for size in (4096, 4194304))
    (aggregate / "ratio-throughput-write-seq.spread.csv").write_text(f"{SPREAD}{spread}")
    assert NO_INTERVAL not in ratio_lines(data_set)


def test_ratios_along_another_axis_are_those_of_their_long_file(data_set):
    rows = "With journal,1,2.5,2.4,2.6,3\nWith journal,1024,2.25,,,1\n"
    path = data_set / "rbd-journaling" / "aggregate" / "ratio-throughput-randwrite.csv"
    path.write_text(f"series,x,y,low,high,n\n{rows}")
    assert ratio_lines(data_set)[1:3] == [
        f"  randwrite{'':8}1{'':19}1024",
        "    With journal   2.50 [2.40, 2.60]   2.25",
    ]


def test_without_ratios_there_is_no_line(tmp_path):
    assert ratio_lines(tmp_path) == []


def test_the_command_prints_them_before_the_sentences(capsys):
    assert run_claims(["--data", "tentacle", "--brief", "--ratios"]) == 0
    said = capsys.readouterr().out
    assert said.index("÷ throughput of …") < said.index("What the data set tentacle says")


def test_they_go_with_the_sentences_only(capsys):
    assert run_claims(["--data", "tentacle", "--ratios"]) == 2
    assert "--brief" in capsys.readouterr().err
