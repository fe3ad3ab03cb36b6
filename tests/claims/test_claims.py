"""Claims: what is read, what is refused, and what data say of them."""

from __future__ import annotations

import csv
import io
import math
import random

import pytest
import yaml

from replay.claims import __main__ as program
from replay.claims.evaluate import Table, judge
from replay.claims.files import judge_data_set, write_claims
from replay.claims.load import load_claims
from replay.claims.model import (
    HELD,
    INCONCLUSIVE,
    NOT_MEASURED,
    NOT_TESTABLE,
    REFUTED,
    Claim,
    Condition,
    Region,
    Selector,
)
from replay.claims.output import as_csv, as_document, as_table
from replay.errors import ConfigurationError
from replay.paths import ROOT

FACTORS = ["io_type", "io_size_bytes"]


def rows(ratio, blocks=10, noise=0.05, drift=0.0, seed=1, limiter="none", sizes=(4096, 4194304)):
    """Paired measurements whose true ratio plain ÷ journal is `ratio` (a number, or one per size)."""
    chance = random.Random(seed)
    made = []
    for block in range(1, blocks + 1):
        for size in sizes:
            level = math.exp(chance.gauss(0, 0.2) + drift * block)
            true = ratio[size] if isinstance(ratio, dict) else ratio
            for variant, factor in (("plain", 1.0), ("journal", 1 / true)):
                made.append(
                    {
                        "used": "1",
                        "block": str(block),
                        "cell": f"{variant}-{size}",
                        "variant": variant,
                        "io_type": "write",
                        "io_size_bytes": str(size),
                        "rate": str(1e6 * level * factor * math.exp(chance.gauss(0, noise))),
                        "limiter": limiter,
                    }
                )
    return made


def select(variant, sizes=(4096,)):
    return Selector(variant, {"io_type": ("write",), "io_size_bytes": tuple(sizes)})


def claim(region, *, sizes=(4096,), limiter=(), more=()):
    terms = ((1, select("plain", sizes)), (-1, select("journal", sizes)))
    return Claim(
        "c", "A sentence.", "S0", "e", limiter, (Condition("ratio", "plain ÷ journal", "rate", terms, region), *more)
    )


def verdict(one, data):
    return judge(one, Table(data, FACTORS)).verdict


@pytest.mark.parametrize(
    ("true", "region", "expected"),
    [
        (10, Region(7.5, 13.3), HELD),
        (2, Region(7.5, 13.3), REFUTED),
        (7.5, Region(7.5, 13.3), INCONCLUSIVE),
        (2, Region(1.5, None), HELD),
        (2, Region(None, 1.25), REFUTED),
        (1, Region(0.9, 1.1, equivalence=True), HELD),
        (1.5, Region(0.9, 1.1, equivalence=True), REFUTED),
        (1.1, Region(0.9, 1.1, equivalence=True), INCONCLUSIVE),
    ],
)
def test_a_claim_is_held_inside_its_region_refuted_wholly_outside_else_inconclusive(true, region, expected):
    assert verdict(claim(region), rows(true)) == expected


def test_pairing_cancels_what_drifts_between_blocks():
    drifting = judge(claim(Region(1.8, 2.2)), Table(rows(2, drift=0.3), FACTORS)).findings[0]
    assert drifting.estimate == pytest.approx(2, rel=0.06)
    assert drifting.high / drifting.low < 1.15


def test_no_difference_needs_ten_blocks():
    one = judge(claim(Region(0.9, 1.1, equivalence=True)), Table(rows(1, blocks=6, noise=0.01), FACTORS))
    assert one.verdict == INCONCLUSIVE
    assert "6 of the 10 blocks" in one.reason


def test_one_block_gives_an_estimate_and_no_verdict():
    one = judge(claim(Region(1.5, None)), Table(rows(2, blocks=1), FACTORS))
    assert (one.verdict, one.findings[0].low) == (INCONCLUSIVE, None)
    assert one.findings[0].estimate == pytest.approx(2, rel=0.2)


def test_a_geometric_mean_takes_every_size_alike():
    one = judge(claim(Region(1, 10), sizes=(4096, 4194304)), Table(rows({4096: 2, 4194304: 8}, noise=0.001), FACTORS))
    assert one.findings[0].estimate == pytest.approx(4, rel=0.01)


def test_a_ratio_of_ratios_compares_two_penalties():
    terms = (
        (1, select("plain")),
        (-1, select("journal")),
        (-1, select("plain", (4194304,))),
        (1, select("journal", (4194304,))),
    )
    one = Claim("c", "s", "S0", "e", (), (Condition("ratio", "says", "rate", terms, Region(1.5, None)),))
    found = judge(one, Table(rows({4096: 8, 4194304: 2}, noise=0.01), FACTORS))
    assert (found.verdict, found.findings[0].estimate) == (HELD, pytest.approx(4, rel=0.03))


def test_what_a_named_limiter_decides_is_not_testable():
    assert verdict(claim(Region(7.5, 13.3), limiter=("cpu",)), rows(2, limiter="cpu")) == NOT_TESTABLE
    assert verdict(claim(Region(7.5, 13.3), limiter=("cpu",)), rows(2, limiter="disk")) == REFUTED


def test_without_data_a_claim_is_not_measured():
    assert judge(claim(Region(1, 2)), None).verdict == NOT_MEASURED
    assert verdict(claim(Region(1, 2)), rows(2, sizes=(4194304,))) == NOT_MEASURED


def test_a_block_with_a_missing_cell_counts_for_nothing():
    data = [row for row in rows(2) if not (row["block"] == "3" and row["variant"] == "journal")]
    assert judge(claim(Region(1.5, None)), Table(data, FACTORS)).findings[0].n == 9


def test_a_void_row_counts_for_nothing():
    data = [{**row, "used": "0"} if row["block"] == "3" else row for row in rows(2)]
    assert judge(claim(Region(1.5, None)), Table(data, FACTORS)).findings[0].n == 9


def test_false_claims_are_rarely_held_and_true_ones_rarely_refuted():
    """At six blocks, with drift and noise, the truth on the region's edge: 2.5 % is nominal for each tail."""
    held = refuted = 0
    for seed in range(1500):
        data = rows(1.5, blocks=6, noise=0.1, drift=0.1, seed=seed, sizes=(4096,))
        found = verdict(claim(Region(1.5, None)), data)
        held += found == HELD
        refuted += found == REFUTED
    assert held / 1500 < 0.05
    assert refuted / 1500 < 0.05


def test_several_conditions_refute_only_after_correction():
    """Four conditions, all true on the edge: any refutation is an accident, and stays under 5 % of all claims."""
    refuted = 0
    for seed in range(400):
        conditions = []
        data = []
        for number in range(4):
            size = 4096 * 2**number
            data += rows(1.5, blocks=6, noise=0.1, seed=seed * 10 + number, sizes=(size,))
            terms = ((1, select("plain", (size,))), (-1, select("journal", (size,))))
            conditions.append(Condition(f"at-{size}", "says", "rate", terms, Region(1.5, None)))
        one = Claim("c", "s", "S0", "e", (), tuple(conditions))
        refuted += verdict(one, data) == REFUTED
    assert refuted / 400 < 0.05


def test_all_claims_of_the_sources_are_there():
    claims = load_claims()
    assert len(claims) == 16
    assert {one.source for one in claims} == {"S0", "S1", "S2", "S3"}
    first, second = (
        next(c for c in claims if c.id == name) for name in ("journal-4k-seq-write", "journal-4k-write-little")
    )
    assert first.conditions and second.conditions, "the two that contradict each other"


@pytest.fixture
def changed(tmp_path, monkeypatch):
    """A configuration of the test's own, its claims changed by a function."""

    def change(edit):
        config = tmp_path / "config"
        if not config.exists():
            config.mkdir()
            (config / "experiments").symlink_to(ROOT / "config" / "experiments")
        document = yaml.safe_load((ROOT / "config" / "claims.yaml").read_text())
        edit(document["claims"][0])
        (config / "claims.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
        monkeypatch.setenv("REPLAY_CONFIG", str(config))

    return change


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda c: c["conditions"][0]["under"].update(variant="with-jurnal"), "with-jurnal"),
        (lambda c: c["conditions"][0]["over"].update(io_size_bytes=4097), "4097"),
        (lambda c: c["conditions"][0]["over"].update(colour="red"), "colour"),
        (lambda c: c["conditions"][0]["over"].pop("io_pattern"), "io_pattern"),
        (lambda c: c.update(metric="loudness"), "loudness"),
        (lambda c: c.update(experiment="nowhere"), "nowhere"),
        (lambda c: c.update(id="journal-4k-write-little"), "two claims"),
        (lambda c: c["conditions"][0].update(between=[2, 1]), "not less than"),
        (lambda c: c["conditions"][0].update(above=1), "conditions"),
    ],
)
def test_a_claim_that_makes_no_sense_is_refused_with_its_place(changed, edit, said):
    changed(edit)
    with pytest.raises(ConfigurationError, match=said) as error:
        load_claims()
    assert "claims.yaml:" in str(error.value)


def write_tidy(folder, ratio):
    """A data set with one point of rbd-journaling, as derive writes it."""
    path = folder / "rbd-journaling" / "tidy.csv"
    path.parent.mkdir(parents=True)
    names = {"plain": "without-journal", "journal": "with-journal"}
    data = [
        {**row, "variant": names[row["variant"]], "io_pattern": "seq", "bytes_per_second": row["rate"]}
        for row in rows(ratio, sizes=(4096,))
    ]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(data[0]))
        writer.writeheader()
        writer.writerows(data)
    return folder


def test_a_data_set_is_judged_and_described(tmp_path):
    data_set = write_tidy(tmp_path / "mine", 2.0)
    judgements = write_claims(data_set)
    verdicts = {one.claim.id: one.verdict for one in judgements}
    assert verdicts["journal-4k-seq-write"] == REFUTED
    assert verdicts["three-replicas-lower-writes"] == NOT_MEASURED
    document = as_document(judgements, "mine")["claims"]["journal-4k-seq-write"]
    assert document["conditions"]["ratio"]["estimate"] == pytest.approx(2, rel=0.05)
    table = list(csv.DictReader(io.StringIO(as_csv(judgements))))
    assert len(table) == 16
    assert "REFUTED" in as_table(judgements)
    before = (data_set / "claims.json").stat().st_mtime_ns
    write_claims(data_set)
    assert (data_set / "claims.json").stat().st_mtime_ns == before, "nothing is written where nothing changes"
    assert judge_data_set(data_set)[0].verdict == REFUTED


def test_the_program_sets_its_exit_status_by_what_was_expected(tmp_path, monkeypatch, capsys):
    write_tidy(tmp_path / "mine", 2.0)
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    assert program.main(["--data", "mine", "--expect", "refuted:journal-4k-seq-write"]) == 0
    assert program.main(["--data", "mine", "--expect", "held:journal-4k-seq-write"]) == 1
    assert "expected held, found refuted" in capsys.readouterr().err
    assert program.main(["--data", "mine", "--expect", "held:no-such-claim"]) == 2
    assert program.main(["--data", "nowhere"]) == 3
