"""answer.csv from tables of a few runs: its figures, its empty fields, and its sources."""

from __future__ import annotations

import csv
import io

import pytest

from replay.base.stats import mean_with_interval, paired_log_ratio
from replay.claims.answer import (
    FIGURES,
    AnswerPlan,
    FigureSource,
    Mode,
    ModePresupposition,
    answer_csv,
    answer_rows,
    columns,
)
from replay.claims.tables import Table
from replay.derive.facts import parse_predicate

NONE = Mode("none", "No mirroring", "none", is_reference=True)
JOURNAL = Mode("journal-poll-5", "Journal mirrored", "journal-mirrored", stated={"journal_poll_age_seconds": 5})
SNAPSHOT = Mode("snapshot-15", "Snapshots every 15 s", "snapshot-mirrored", stated={"snapshot_interval_seconds": 15})
VARIANTS = {"none": "plain", "journal-poll-5": "journal", "snapshot-15": "snapshot"}
LOST = FigureSource("site-loss", ("lost_seconds",), {"kind": "forced"}, VARIANTS)
PEAK = FigureSource("peak", ("bytes_per_second",), {"io_size_bytes": 4096}, VARIANTS)


def question(**sources):
    return AnswerPlan((NONE, JOURNAL, SNAPSHOT), sources)


def table(values, *, factor="kind", level="forced", metric="lost_seconds", facts=None, **more):
    """A table with a row per variant and block; a value of None is a run that does not state the metric."""
    rows = [
        {
            **more, "block": block, "variant": variant, "cell": variant, "attempt": 1, "used": 1,
            factor: level, metric: "" if value is None else str(value), "point": level, **(facts or {}),
        }
        for variant, several in values.items()
        for block, value in enumerate(several, start=1)
    ]  # fmt: skip
    return Table(rows, [factor])


def writes(values, metric="bytes_per_second", **more):
    """A table of writes of 4 KiB."""
    return table(values, factor="io_size_bytes", level=4096, metric=metric, **more)


def row_of(rows, name):
    return next(row for row in rows if row["name"] == name)


def test_the_worst_trial_is_named_and_never_only_a_median():
    losses = [0.5, 4.2, 1.5, 3.1, 2.0, 2.4, 0.1]
    rows = answer_rows(question(recovery_point=(LOST,)), {"site-loss": table({"journal": losses})})
    row = row_of(rows, "journal-poll-5")
    assert row["recovery_point_worst_seconds"] == 4.2
    assert row["recovery_point_median_seconds"] == 2.0
    assert (row["recovery_point_median_low_seconds"], row["recovery_point_median_high_seconds"]) == (0.1, 4.2)
    assert row["recovery_point_n"] == 7
    assert row["recovery_point_p95_bound_seconds"] is None  # seven trials bound no 95th percentile
    assert row["recovery_point_worst_bounds_p95_confidence"] == pytest.approx(1 - 0.95**7)
    assert row["recovery_point_source"] == "site-loss: lost_seconds"


def test_sixty_trials_bound_the_95th_percentile():
    trials = table({"journal": [n / 10 for n in range(60)]})
    row = row_of(answer_rows(question(recovery_point=(LOST,)), {"site-loss": trials}), "journal-poll-5")
    assert row["recovery_point_p95_bound_seconds"] == 5.9


def test_a_factor_that_a_mode_states_chooses_its_cells():
    """Each distance of a stretch cluster is a mode of its own; a source names its experiment once for all."""
    modes = tuple(
        Mode(f"stretch-{ms}", f"{ms} ms", "stretch", stated={"link_rtt_seconds": ms / 1000}) for ms in (0, 20, 80)
    )
    lost = FigureSource("distance-loss", ("lost_seconds",), {}, {mode.name: "stretch" for mode in modes})
    rows = [
        {"block": block, "variant": "stretch", "used": 1, "link_rtt_seconds": rtt, "lost_seconds": value}
        for rtt, values in ((0, [0.5, 0]), (0.02, [0, 0]))
        for block, value in enumerate(values, start=1)
    ]
    tables = {"distance-loss": Table(rows, ["link_rtt_seconds"])}
    answered = answer_rows(AnswerPlan((NONE, *modes), {"recovery_point": (lost,)}), tables)
    worst = {row["name"]: (row.get("link_rtt_seconds"), row.get("recovery_point_worst_seconds")) for row in answered}
    assert worst == {
        "none": (None, None), "stretch-0": (0, 0.5), "stretch-20": (0.02, 0), "stretch-80": (0.08, None)
    }  # fmt: skip


def test_a_ratio_is_that_of_charts_and_claims_and_uses_only_pairs():
    plain, journal = [100.0, 220.0, 310.0], [50.0, 100.0, None]
    tables = {"peak": writes({"plain": plain, "journal": journal})}
    rows = answer_rows(question(peak_ratio_4k=(PEAK,)), tables)
    wanted = paired_log_ratio(plain[:2], journal[:2])
    row = row_of(rows, "journal-poll-5")
    got = [row[f"peak_ratio_4k{part}"] for part in ("", "_low", "_high", "_n")]
    assert got == pytest.approx(list(wanted))
    assert not any(column.startswith("peak_ratio_4k") for column in row_of(rows, "none"))


def test_the_added_latency_of_a_write_is_the_difference_within_a_block():
    source = FigureSource("latency", ("latency_mean_seconds",), {"io_size_bytes": 4096}, VARIANTS)
    plain, journal = [0.002, 0.004, 0.003], [0.005, 0.006, 0.0065]
    tables = {"latency": writes({"plain": plain, "journal": journal}, "latency_mean_seconds")}
    row = row_of(answer_rows(question(latency_added_4k=(source,)), tables), "journal-poll-5")
    wanted = mean_with_interval([one - other for one, other in zip(journal, plain, strict=True)])
    assert row["latency_added_4k_seconds"] == pytest.approx(wanted.value)
    assert row["latency_added_4k_low_seconds"] == pytest.approx(wanted.low)


def test_the_typical_latency_is_the_median_over_blocks_between_the_lowest_and_the_highest():
    source = FigureSource("latency", ("latency_p50_seconds",), {"io_size_bytes": 4096}, VARIANTS)
    latency = writes({"plain": [0.002, 0.004, 0.003], "journal": [0.009, None, 0.005]}, "latency_p50_seconds")
    rows = answer_rows(question(latency_p50_4k=(source,)), {"latency": latency})
    parts = [f"latency_p50_4k_{part}" for part in ("seconds", "low_seconds", "high_seconds", "n")]
    assert [row_of(rows, "none")[part] for part in parts] == [0.003, 0.002, 0.004, 3]
    assert [row_of(rows, "journal-poll-5")[part] for part in parts] == pytest.approx([0.007, 0.005, 0.009, 2])


def test_metrics_of_a_source_are_added_run_by_run():
    source = FigureSource("cost", ("client_cpu", "osd_cpu"), {"io_size_bytes": 4096}, VARIANTS)
    cost = writes({"plain": [1.0, 2.0], "journal": [3.0, None]}, "client_cpu", osd_cpu="0.5")
    rows = answer_rows(question(cpu_time_4k=(source,)), {"cost": cost})
    assert row_of(rows, "none")["cpu_time_4k_seconds"] == 2.0
    journal = row_of(rows, "journal-poll-5")
    assert (journal["cpu_time_4k_seconds"], journal["cpu_time_4k_n"]) == (3.5, 1)


def test_a_column_has_a_single_source_which_is_the_first_that_was_measured():
    old = FigureSource(
        "failover", ("lost_seconds",), {"kind": "forced"}, {"journal-poll-5": "journal", "snapshot-15": "snapshot"}
    )
    both = {"site-loss": table({"journal": [1.0]}), "failover": table({"journal": [9.0], "snapshot": [9.0]})}
    rows = answer_rows(question(recovery_point=(LOST, old)), both)
    assert row_of(rows, "journal-poll-5")["recovery_point_worst_seconds"] == 1.0
    assert "recovery_point_source" not in row_of(rows, "snapshot-15")
    rows = answer_rows(question(recovery_point=(LOST, old)), {"site-loss": None, "failover": both["failover"]})
    assert row_of(rows, "journal-poll-5")["recovery_point_source"] == "failover: lost_seconds"


def test_a_supplement_adds_the_modes_that_the_source_before_it_lacks():
    first = FigureSource("latency", ("lost_seconds",), {"kind": "forced"}, {"none": "plain", "snapshot-15": "snapshot"})
    more = FigureSource("poll", ("lost_seconds",), {"kind": "forced"}, VARIANTS, supplement=True)
    other = FigureSource("old", ("lost_seconds",), {"kind": "forced"}, VARIANTS)
    tables = {
        "latency": table({"plain": [1.0], "snapshot": [2.0]}),
        "poll": table({"plain": [5.0], "journal": [7.0]}),
        "old": table({"plain": [9.0], "journal": [9.0], "snapshot": [9.0]}),
    }

    def added(measured):
        rows = answer_rows(question(latency_added_4k=(first, more, other)), measured)
        return {row["name"]: (row.get("latency_added_4k_seconds"), row.get("latency_added_4k_source")) for row in rows}

    assert added(tables) == {
        "none": (None, None),
        "journal-poll-5": (2.0, "poll: lost_seconds"),  # within its own campaign
        "snapshot-15": (1.0, "latency: lost_seconds"),
    }
    assert added({**tables, "latency": None})["snapshot-15"] == (None, None)
    assert added({**tables, "poll": None})["journal-poll-5"] == (None, None)


def test_a_run_with_another_interval_does_not_count_for_the_mode():
    tables = {"site-loss": table({"snapshot": [1.0, 2.0]}, snapshot_interval_seconds="5")}
    row = row_of(answer_rows(question(recovery_point=(LOST,)), tables), "snapshot-15")
    assert "recovery_point_worst_seconds" not in row
    assert row["recovery_point_source"].endswith("not testable here: snapshot_interval_seconds was 5")


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, "the share that was replayed while the client wrote was not recorded"),
        ({"replayed_fraction_during_cell": "0.25"}, "the share that was replayed while the client wrote was 25%"),
        ({"replayed_fraction_during_cell": "0.9"}, ""),
    ],
)
def test_a_presupposition_that_is_not_met_leaves_a_figure_empty_with_the_reason(facts, said):
    wanted = ModePresupposition(
        parse_predicate("replayed_fraction_during_cell >= 0.8", "here"), frozenset({"journal-poll-5"})
    )
    source = FigureSource("peak", ("bytes_per_second",), {"io_size_bytes": 4096}, VARIANTS, (wanted,))
    tables = {"peak": writes({"plain": [2.0, 2.0], "journal": [1.0, 1.0]}, facts=facts)}
    row = row_of(answer_rows(question(peak_ratio_4k=(source,)), tables), "journal-poll-5")
    assert ("peak_ratio_4k" in row) == (not said)
    assert row["peak_ratio_4k_source"] == "peak: bytes_per_second" + (f"; not testable here: {said}" if said else "")


def test_a_run_with_a_value_of_0_or_only_a_lower_bound_leaves_a_figure_empty_with_the_reason():
    slowest = FigureSource("latency", ("latency_p99_seconds",), {"io_size_bytes": 4096}, VARIANTS)
    tables = {
        "peak": writes({"plain": [100.0, 220.0, 150.0], "journal": [0.0, 100.0]}),
        "latency": writes({"journal": [0.009, None]}, "latency_p99_seconds", latency_p99_at_least_seconds="17"),
    }
    rows = answer_rows(question(peak_ratio_4k=(PEAK,), latency_p99_4k=(slowest,)), tables)
    assert {name: value for name, value in row_of(rows, "journal-poll-5").items() if name.endswith("_source")} == {
        "latency_p99_4k_source": "latency: latency_p99_seconds; no figure: only a lower bound in 1 of 2 runs",
        "peak_ratio_4k_source": "peak: bytes_per_second; no figure: a value of 0 in 1 of 4 runs, which has no ratio",
    }
    assert not {"latency_p99_4k_seconds", "peak_ratio_4k"} & row_of(rows, "journal-poll-5").keys()


def test_a_reference_that_lacks_what_is_presupposed_leaves_the_comparison_empty():
    wanted = ModePresupposition(parse_predicate("idle_cpu_fraction >= 0.15", "here"), frozenset({"none"}))
    source = FigureSource("peak", ("bytes_per_second",), {"io_size_bytes": 4096}, VARIANTS, (wanted,))
    tables = {"peak": writes({"plain": [2.0], "journal": [1.0]}, facts={"idle_cpu_fraction": "0.02"})}
    row = row_of(answer_rows(question(peak_ratio_4k=(source,)), tables), "journal-poll-5")
    assert "peak_ratio_4k" not in row
    assert row["peak_ratio_4k_source"].endswith("the idle share of the CPU was 2% in none")


def test_without_any_data_every_figure_is_an_empty_field_and_every_mode_has_its_row():
    text = answer_csv(question(recovery_point=(LOST,), peak_ratio_4k=(PEAK,)), {})
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["name"] for row in rows] == ["none", "journal-poll-5", "snapshot-15"]
    assert set(rows[0]) == set(columns())
    figures = [column for column in columns() if any(column.startswith(name) for name in FIGURES)]
    assert {row[column] for row in rows for column in figures} == {""}
