"""config/answer.yaml: its contents, how a typo is refused, and that the shipped one is valid."""

from __future__ import annotations

import pytest

from replay.base.errors import ConfigurationError
from replay.base.paths import ROOT
from replay.claims.answer import FIGURES, load_answer_plan
from replay.claims.tables import read_table
from replay.design.configuration import load_experiment
from replay.design.expansion import expand
from support.datasets import rows_of, spread_of

REFERENCE = ROOT / "benchmarks" / "tentacle"
MODES = """modes:
  - { name: none, label: No mirroring, mode: none, reference: true }
  - { name: journal, label: Journal, mode: journal }
"""
SOURCE = "{ experiment: rbd-journaling, metrics: [bytes_per_second], levels: LEVELS, variants: VARIANTS }"
LEVELS = "{ io_type: write, io_pattern: seq, io_size_bytes: 4096 }"
VARIANTS = "{ none: without-journal, journal: with-journal }"


def shipped_row(mode):
    return next(row for row in rows_of(REFERENCE / "answer.csv") if row["name"] == mode)


@pytest.fixture
def configured(configuration):
    """Return a function that writes config/answer.yaml beside the shipped experiments."""

    def write(figure="peak_ratio_4k", modes=MODES, source=SOURCE, levels=LEVELS, variants=VARIANTS):
        source = source.replace("LEVELS", levels).replace("VARIANTS", variants)
        (configuration / "answer.yaml").write_text(f"{modes}figures:\n  {figure}:\n    - {source}\n")

    return write


def test_a_source_names_one_level_of_each_factor(configured):
    configured()
    (source,) = load_answer_plan().sources["peak_ratio_4k"]
    assert source.levels == {"io_type": "write", "io_pattern": "seq", "io_size_bytes": 4096}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"figure": "peak_ratio_5k"}, "there is no figure 'peak_ratio_5k'"),
        ({"source": SOURCE.replace("rbd-journaling", "rbd-journalling")}, "there is no experiment 'rbd-journalling'"),
        ({"source": SOURCE.replace("[bytes_per_second]", "[bytes]")}, "rbd-journaling has no metric 'bytes'"),
        ({"levels": "{ io_type: write, io_pattern: seq }"}, "a level of the factor io_size_bytes is missing"),
        ({"levels": LEVELS.replace("4096", "4095")}, "io_size_bytes: 4095 is not one of"),
        ({"levels": LEVELS.replace("io_type", "io_typ")}, "'io_typ' is not a factor"),
        ({"variants": "{ none: without-journal, jornal: with-journal }"}, "there is no mode 'jornal'"),
        ({"variants": "{ none: without-journal, journal: journaled }"}, "rbd-journaling has no variant 'journaled'"),
        ({"variants": "{ journal: with-journal }"}, "nothing measures the reference 'none'"),
        ({"modes": MODES.replace(", reference: true", "")}, "0 modes are the reference"),
        ({"modes": MODES.replace("name: journal", "name: none")}, "two modes are called 'none'"),
        ({"modes": MODES.replace("mode: journal", "mode: mirror")}, "'mirror' is not one of"),
        (
            {"source": SOURCE.replace(" }", ", presupposes: [{ that: idle >= 0.5, of: [none] }] }")},
            "there is no fact 'idle'",
        ),
        (
            {"source": SOURCE.replace(" }", ", presupposes: [{ that: idle_cpu_fraction >= 0.5, of: [other] }] }")},
            "of: 'other' is not measured here",
        ),
    ],
)
def test_a_typo_is_refused_with_its_line(wrong, said, configured):
    configured(**wrong)
    with pytest.raises(ConfigurationError) as raised:
        load_answer_plan()
    assert said in raised.value.what
    assert "answer.yaml:" in str(raised.value.where)


def test_the_shipped_table_names_what_experiments_measure_at_the_scale_of_the_talk():
    question = load_answer_plan()
    assert set(question.sources) <= set(FIGURES)
    for several in question.sources.values():
        for source in several:
            sets = expand(load_experiment(source.experiment), "talk").sets
            there = [one for one in sets if source.levels.items() <= one.levels.items()]
            measured = {cell.variant.name for one in there for cell in one.cells}
            assert set(source.variants.values()) <= measured, source.text()


def test_the_peaks_in_the_shipped_table_are_those_of_the_charts():
    row = shipped_row("journal")
    chart = REFERENCE / "rbd-journaling" / "aggregate" / "ratio-throughput-write-rand.csv"
    drawn = next(one for one in rows_of(chart) if one["I/O size"] == "With journal")
    for size, bytes_text in (("4k", "4096"), ("4m", "4194304")):
        spread = spread_of(chart)["With journal", bytes_text]
        assert row[f"peak_ratio_{size}"] == drawn[bytes_text]
        for end in ("low", "high"):
            # The table is made of the nine digits of tidy.csv, the chart of what the tool printed.
            assert float(row[f"peak_ratio_{size}_{end}"]) == pytest.approx(float(spread[end]), rel=1e-8)


def test_the_shipped_recovery_points_are_those_of_its_trials():
    trials = read_table(REFERENCE / "site-loss", ["kind"])
    rows = [row for row in trials.rows.values() if row["variant"] == "journal-poll-5" and row["kind"] == "forced"]
    row = shipped_row("journal-poll-5")
    assert row["recovery_point_n"] == str(len(rows))
    assert float(row["recovery_point_worst_seconds"]) == max(float(one["recovery_point_seconds"]) for one in rows)
