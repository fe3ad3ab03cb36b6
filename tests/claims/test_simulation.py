"""`tests/claims/simulate_claims.py`: its figures keep their bounds, and it says so if they do not."""

from __future__ import annotations

import pytest

from claims import simulate_claims
from claims.simulate_claims import Share, bias, coverage, shares, verdicts
from replay.claims.model import REFUTED, Region

SEED = 20260101
SIMULATED_ONCE = pytest.mark.xdist_group("every line of the simulation")


@pytest.fixture(scope="module")
def simulated():
    """Every line of the table, from enough experiments for its bounds to mean something."""
    return list(shares(2000, SEED))


@pytest.mark.parametrize("blocks", [6, 8])
def test_nominal_95_percent_intervals_hold_the_true_ratio_in_93_to_97_percent_of_experiments(blocks):
    assert 0.93 <= coverage(4000, SEED, blocks) <= 0.97


def test_drift_biases_a_ratio_unless_the_order_is_drawn():
    all_before, alternating, drawn = (bias(2000, SEED, order) for order in simulate_claims.ORDERS)
    assert -0.07 < all_before < -0.03
    assert -0.02 < alternating < -0.005
    assert drawn == pytest.approx(0, abs=0.003)


@pytest.mark.slow
@SIMULATED_ONCE
def test_every_line_of_the_printed_table_keeps_its_bounds(simulated, capsys):
    simulate_claims.table(simulated)
    assert [one.name for one in simulated if not one.kept] == []
    printed = capsys.readouterr().out
    assert "OUT OF BOUNDS" not in printed
    assert all(one.name in printed for one in simulated)


@pytest.mark.slow
@SIMULATED_ONCE
def test_a_false_claim_is_held_in_less_than_5_percent_of_experiments(simulated):
    """On the edge of "no difference" it is 5 % by construction; beyond it, and on any other edge, less."""
    held = {one.name: one.value for one in simulated if one.name.endswith(": held")}
    outside = {name: value for name, value in held.items() if not name.startswith("no difference") or "outside" in name}
    assert len(outside) == 7
    assert max(outside.values()) < 0.05
    assert max(held.values()) < 0.06


def test_each_kind_of_region_is_simulated_at_each_of_its_edges():
    names = [one.name for one in shares(1, SEED)]
    for kind, region in simulate_claims.REGIONS.items():
        for edge in simulate_claims.edges(region):
            for verdict in ("held", "refuted"):
                assert any(kind in name and f"{edge:g} " in name and name.endswith(verdict) for name in names)


def test_a_claim_that_is_far_from_true_is_refuted():
    assert verdicts(50, SEED, [Region(7.5, 13.3)], [2.0], 6) == [REFUTED] * 50


def test_the_program_ends_with_status_1_if_a_bound_is_not_kept(monkeypatch, capsys):
    monkeypatch.setattr(simulate_claims, "shares", lambda runs, seed: [Share("a share", 0.2, 0, 0.05)])
    assert simulate_claims.main([]) == 1
    assert "OUT OF BOUNDS" in capsys.readouterr().out
    monkeypatch.setattr(simulate_claims, "shares", lambda runs, seed: [Share("a share", 0.02, 0, 0.05)])
    assert simulate_claims.main([]) == 0
