"""Intervals and verdicts are right as often as they say, in simulated experiments."""

from __future__ import annotations

import pytest

from claims.simulate_claims import shares, verdicts
from replay.claims.model import REFUTED, Region

SEED = 20260101


@pytest.mark.slow
def test_every_share_keeps_its_bounds():
    """From enough experiments for the bounds to mean something."""
    assert [one.name for one in shares(2000, SEED) if not one.kept] == []


def test_a_claim_that_is_far_from_true_is_refuted():
    assert verdicts(50, SEED, [Region(7.5, 13.3)], [2.0], 6) == [REFUTED] * 50
