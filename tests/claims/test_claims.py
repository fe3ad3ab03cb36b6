"""Claims: what data say about them, and how it is written."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace

import pytest

from replay.base.errors import EvidenceError
from replay.base.stats import independent_log_ratio, welch_difference
from replay.claims.command import verdict_parts
from replay.claims.documents import as_csv, as_document, write_claims
from replay.claims.evaluate import judge
from replay.claims.judge import judge_data_set, with_q_values
from replay.claims.model import HELD, INCONCLUSIVE, NOT_MEASURED, NOT_TESTABLE, REFUTED, Region
from replay.claims.tables import Table
from support.claims import (
    EQUAL,
    FACTORS,
    claim,
    claim_of,
    condition,
    judged,
    presuppose,
    printed,
    rows,
    select,
    verdict,
    write_tidy,
)
from support.commands import run_claims


@pytest.mark.parametrize(
    ("true", "region", "expected"),
    [
        (10, Region(7.5, 13.3), HELD),
        (2, Region(7.5, 13.3), REFUTED),
        (7.5, Region(7.5, 13.3), INCONCLUSIVE),
        (2, Region(1.5, None), HELD),
        (2, Region(None, 1.25), REFUTED),
        (1, EQUAL, HELD),
        (1.5, EQUAL, REFUTED),
        (1.1, EQUAL, INCONCLUSIVE),
        (2, Region(1, 1), REFUTED),
        (0.5, Region(1, 1), REFUTED),
        (1, Region(1, 1), INCONCLUSIVE),
    ],
)
def test_a_claim_is_held_inside_its_region_refuted_wholly_outside_else_inconclusive(true, region, expected):
    assert verdict(claim(region), rows(true)) == expected


def test_pairing_cancels_what_drifts_between_blocks():
    drifting = judged(claim(Region(1.8, 2.2)), rows(2, drift=0.3)).results[0]
    assert drifting.estimate == pytest.approx(2, rel=0.06)
    assert drifting.high / drifting.low < 1.15


def test_independent_runs_have_welchs_interval_and_need_no_common_blocks():
    data = [row for row in rows(2, blocks=4, sizes=(4096,)) if (row["variant"], row["block"]) != ("journal", "4")]
    one = replace(condition(Region(1, 1)), independent=True)
    found = judged(claim_of(one), data)
    sides = [[float(row["rate"]) for row in data if row["variant"] == variant] for variant in ("plain", "journal")]
    (result,) = found.results
    assert (result.estimate, result.low, result.high, result.n) == pytest.approx(independent_log_ratio(*sides))
    (valued,) = with_q_values([found])
    logs = [[math.log(value) for value in side] for side in sides]
    assert valued.results[0].p_value == pytest.approx(welch_difference(*logs).p_value)


def test_independent_runs_without_a_common_block_are_examined_as_any_others():
    data = [
        {**row, "block": str(int(row["block"]) + 4 * (row["variant"] == "journal")), "idle_cpu_fraction": "0.1"}
        for row in rows(2, blocks=4, sizes=(4096,))
    ]
    one = claim_of(replace(condition(Region(1, 1)), independent=True))
    busy = judged(replace(one, presupposes=(presuppose("idle_cpu_fraction >= 0.25"),)), data)
    assert (busy.verdict, busy.presupposed[0].met) == (NOT_TESTABLE, False)
    assert "in 2 of 2 cells" in busy.reason
    assert judged(one, data).exploratory == "every block had been measured before it was registered"
    table = Table([{**row, "registration": "r"} for row in data], FACTORS, {"r": {"c": one.digest}})
    assert judge(one, table).exploratory == ""


def test_the_estimate_is_the_geometric_mean_of_its_blocks():
    found = judged(claim(Region(1.8, 2.2)), rows(2, blocks=3, noise=0.2)).results[0]
    assert list(found.blocks) == [1, 2, 3]
    first, second, third = found.blocks.values()
    assert found.estimate == pytest.approx((first * second * third) ** (1 / 3))


def test_no_difference_needs_eight_blocks():
    one = judged(claim(EQUAL), rows(1, blocks=6, noise=0.01))
    assert one.verdict == INCONCLUSIVE
    assert "6 of the 8 blocks" in one.reason


def test_one_block_gives_an_estimate_and_no_verdict():
    one = judged(claim(Region(1.5, None)), rows(2, blocks=1))
    assert (one.verdict, one.results[0].low) == (INCONCLUSIVE, None)
    assert one.results[0].estimate == pytest.approx(2, rel=0.2)


def test_a_geometric_mean_takes_every_size_alike():
    one = judged(claim(Region(1, 10), sizes=(4096, 4194304)), rows({4096: 2, 4194304: 8}, noise=0.001))
    assert one.results[0].estimate == pytest.approx(4, rel=0.01)


def test_a_ratio_of_ratios_compares_two_penalties():
    small, large = condition(Region(1.5, None)), condition(Region(1.5, None), (4194304,))
    terms = (*small.terms, *((-weight, selector) for weight, selector in large.terms))
    both = claim_of(type(small)("ratio", "says", "rate", terms, small.region))
    found = judged(both, rows({4096: 8, 4194304: 2}, noise=0.01))
    assert (found.verdict, found.results[0].estimate) == (HELD, pytest.approx(4, rel=0.03))
    assert select("plain") in [selector for _, selector in terms]


def test_without_data_a_claim_is_not_measured():
    assert judge(claim(Region(1, 2)), None).verdict == NOT_MEASURED
    assert verdict(claim(Region(1, 2)), rows(2, sizes=(4194304,))) == NOT_MEASURED


def test_a_block_with_a_missing_cell_does_not_count():
    data = [row for row in rows(2) if not (row["block"] == "3" and row["variant"] == "journal")]
    found = judged(claim(Region(1.5, None)), data).results[0]
    assert (found.n, 3 in found.blocks) == (9, False)


@pytest.mark.parametrize("worst", [{"rate": "0"}, {"rate": "", "rate_at_least_seconds": "17"}])
def test_a_block_without_a_ratio_is_not_left_out_of_a_verdict(worst):
    data = [{**row, **worst} if (row["block"], row["variant"]) == ("3", "journal") else row for row in rows(2)]
    found = judged(claim(Region(1.5, None)), data)
    assert found.verdict == INCONCLUSIVE
    assert found.reason == "no ratio in 1 of 10 blocks: a value of 0 or less, or only a lower bound"
    assert (found.results[0].estimate, found.results[0].n) == (None, 0)


def test_blocks_so_far_apart_that_no_number_holds_their_interval_decide_nothing():
    data = [
        {**row, "rate": "1e-60"} if (row["block"], row["variant"]) == ("1", "journal") else row
        for row in rows(2, blocks=2)
    ]
    found = judged(claim(Region(1.5, None)), data)
    assert found.verdict == INCONCLUSIVE
    assert "no number holds the ends of the interval" in found.reason
    assert (found.results[0].estimate, found.results[0].n) == (None, 0)


@pytest.mark.parametrize("slower", [False, True])
def test_blocks_without_a_ratio_are_examined_as_any_others(slower):
    data = [{**row, "rate": "0"} if row["variant"] == "journal" else row for row in rows(2, limiter="cpu")]
    found = judged(claim(Region(1.5, None), presuppose("limiter != cpu", slower=slower)), data)
    assert (found.verdict, found.presupposed[0].met) == (NOT_TESTABLE, False)
    assert found.exploratory == "every block had been measured before it was registered"


def test_older_data_hold_no_cell_of_a_factor_that_was_added():
    one = condition(Region(1.5, None))
    terms = tuple((weight, replace(cells, levels={**cells.levels, "clients": (4,)})) for weight, cells in one.terms)
    table = Table(rows(2), [*FACTORS, "clients"])
    assert judge(claim_of(replace(one, terms=terms)), table).verdict == NOT_MEASURED


def test_cells_that_only_a_removed_factor_tells_apart_are_refused():
    with pytest.raises(EvidenceError, match="two cells differ in none of the factors io_type") as raised:
        Table([{**row, "experiment": "e"} for row in rows(2)], ["io_type"])
    assert raised.value.where == "e, block 1, write-4096 and write-4194304"


def test_a_void_row_does_not_count():
    data = [{**row, "used": "0"} if row["block"] == "3" else row for row in rows(2)]
    assert judged(claim(Region(1.5, None)), data).results[0].n == 9


@pytest.mark.parametrize(("stated", "expected"), [("5", "every 5 s"), ("", "every ? s")])
def test_a_condition_describes_the_set_up_as_the_data_state_it(stated, expected):
    data = [{**row, "interval": stated if row["variant"] == "journal" else ""} for row in rows(2)]
    found = judged(claim(Region(1, 3), says="every {interval} s"), data).results[0]
    assert found.says == expected


def test_a_data_set_is_judged_and_described(tmp_path):
    data_set = write_tidy(tmp_path / "mine", 2.0)
    write_claims(data_set)
    found = judge_data_set(data_set)
    verdicts = {one.claim.id: one.verdict for one in found.judgements}
    assert verdicts["journal-4k-seq-write"] == REFUTED
    assert verdicts["three-replicas-lower-writes"] == NOT_MEASURED
    document = json.loads((data_set / "claims.json").read_text())
    assert document == as_document(found)
    assert (document["schema_version"], document["data_set"], document["altered"]) == (3, "mine", False)
    assert document["method"] == {
        "confidence": 0.95,
        "equivalence_blocks": 8,
        "blocks_for_verdict": 2,
        "false_discovery_rate": 0.05,
        "campaigns_for_prediction": 3,
    }
    assert set(document["sources"]) == {"S0", "S1", "S2", "S3", "S4", "S5", "S6", "S7"}
    one = document["claims"]["journal-4k-seq-write"]
    assert one["chart"] == "rbd-journaling/ratio-throughput-write-seq"
    assert one["conditions"]["ratio"]["estimate"] == pytest.approx(2, rel=0.05)
    assert list(one["conditions"]["ratio"]["blocks"]) == [str(block) for block in range(1, 11)]
    table = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert {row["id"] for row in table} == set(document["claims"])
    assert "REFUTED" in printed(verdict_parts(found))


def test_a_table_says_which_blocks_come_from_which_host(benchmarks, capsys):
    data_set = write_tidy(benchmarks / "mine", 2.0)

    def said(**hosts):
        experiments = {"rbd-journaling": {"provenance": {"machines_by_block": hosts}}, "failover": {}}
        (data_set / "manifest.json").write_text(json.dumps({"setup": {}, "experiments": experiments}))
        assert run_claims(["--data", "mine"]) == 0
        return capsys.readouterr().out

    line = "rbd-journaling was measured on 2 hosts: blocks 1, 3 on host-a; block 2 on host-b."
    assert line in said(**{"1": ["host-a"], "2": ["host-b"], "3": ["host-a"]})
    assert " hosts: " not in said(**{"1": ["host-a"], "2": ["host-a"]})


def test_a_figure_over_several_hosts_says_so():
    def found(hosts):
        data = [{**row, "host": f"host-{int(row['block']) % hosts}"} for row in rows(2)]
        return judged(claim(Region(1.5, None)), data)

    assert "n = 10 on 2 hosts: inside" in found(2).reason
    assert found(2).results[0].hosts == ["host-0", "host-1"]
    assert "host" not in found(1).reason


def test_the_program_sets_its_exit_status_by_what_was_expected(benchmarks, capsys):
    write_tidy(benchmarks / "mine", 2.0)
    assert run_claims(["--data", "mine", "--expect", "refuted:journal-4k-seq-write"]) == 0
    assert run_claims(["--data", "mine", "--expect", "held:journal-4k-seq-write"]) == 1
    assert "expected held, found refuted" in capsys.readouterr().err
    assert run_claims(["--data", "mine", "--expect", "held:no-such-claim"]) == 2
    assert run_claims(["--data", "nowhere"]) == 3


def test_the_program_can_show_only_the_claims_of_some_experiments(benchmarks, capsys):
    write_tidy(benchmarks / "mine", 2.0)
    assert run_claims(["--data", "mine", "--experiment", "rbd-journaling"]) == 0
    said = capsys.readouterr().out
    assert "journal-4k-seq-write" in said
    assert "clients-scale" not in said
    assert run_claims(["--data", "mine", "--experiment", "failover"]) == 0
    assert "no claim is about these experiments" in capsys.readouterr().out
    assert run_claims(["--data", "mine", "--experiment", "rbd-jurnaling"]) == 2
    assert "rbd-jurnaling: there is no such experiment" in capsys.readouterr().err
