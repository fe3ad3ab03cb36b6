"""Reads data sets, and judges the talk's claims by them: one data set alone, and over the campaigns that ship."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from replay.base import stats as statistics
from replay.base.errors import EvidenceError
from replay.base.paths import after_missing
from replay.base.programs import major_of, with_names
from replay.claims.campaigns import over_campaigns
from replay.claims.evaluate import judge, tail
from replay.claims.load import known_experiments, load_book
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    CLAIM,
    HELD,
    NOT_MEASURED,
    NOT_TESTABLE,
    REFUTED,
    Assessment,
    Book,
    Condition,
    ConditionResult,
    Judgement,
)
from replay.claims.tables import read_manifest, read_table
from replay.design.configuration import load_claims_document
from replay.evidence.data_set import CAMPAIGN, read_campaign


def judge_data_set(data_set: Path, book: Book | None = None) -> Assessment:
    """Return a data set's verdict on every claim. `book` saves reading the claims again.

    Raises EvidenceError if there is no such data set, and ConfigurationError if the claims are invalid.
    """
    if not data_set.is_dir():
        raise EvidenceError("there is no such data set", where=data_set, next_step=after_missing(data_set))
    tables = {
        name: read_table(data_set / name, list(experiment["factors"]))
        for name, experiment in known_experiments(data_set).items()
    }
    book = book or load_book(data_set)
    return Assessment(
        data_set=data_set.name,
        sources=book.sources,
        judgements=with_q_values(judge(claim, tables.get(claim.experiment)) for claim in book.claims),
    )


def with_campaigns(assessment: Assessment, data_set: Path, book: Book) -> Assessment:
    """Return a data set's assessment with what the campaigns that ship say about each claim together."""
    assessments = [
        assessment if folder == data_set else judge_data_set(folder, book) for folder in campaign_folders(data_set)
    ]
    names = [campaign.data_set for campaign in assessments]
    by_claim = zip(book.claims, *(campaign.judgements for campaign in assessments), strict=True)
    over = {claim.id: over_campaigns(claim, dict(zip(names, each, strict=True))) for claim, *each in by_claim}
    return replace(assessment, over_campaigns=over)


def campaign_folders(data_set: Path) -> list[Path]:
    """Return the data sets beside this one that `campaigns` in config/claims.yaml names and that have its release.

    They are those that ship: somebody's own data set is compared with them, and never changes what they say.
    """
    release = _release(data_set)
    folders = (data_set.parent / name for name in load_claims_document().data.get("campaigns", ()))
    return sorted(
        folder
        for folder in folders
        if release is not None and (folder / CAMPAIGN).exists() and _release(folder) == release
    )


def _release(data_set: Path) -> int | None:
    return major_of((read_campaign(data_set).get("setup") or {}).get("ceph_version"))


def with_versions(assessment: Assessment, data_set: Path) -> Assessment:
    """Return an assessment with the versions and hosts that its data set's manifest.json names.

    Raises EvidenceError if that file cannot be read.
    """
    manifest = read_manifest(data_set)
    setup = manifest.get("setup", {})
    versions = [(name, setup.get(f"{key}_version")) for name, key in (("Ceph", "ceph"), ("client", "librbd"))]
    measured_with = ", ".join(f"{name} {with_names(version)}" for name, version in versions if version)
    experiments = manifest["experiments"].items()
    machines = {name: entry.get("provenance", {}).get("machines_by_block", {}) for name, entry in experiments}
    return replace(assessment, measured_with=measured_with, machines=machines)


def read_controls(data_set: Path) -> dict[str, Mapping[str, Any]]:
    """Return what the A/A control of each experiment found, from manifest.json; empty if there is no such file.

    Raises EvidenceError if that file cannot be read.
    """
    experiments = read_manifest(data_set)["experiments"]
    return {name: entry["control"] for name, entry in experiments.items() if entry.get("control")}


# Many claims are tested at once: how many verdicts chance alone would produce, and what survives. Pure.
# A p-value belongs to what a condition's data say, held or refuted. It is 0.05 if the condition's 95 % interval (of no
# difference, the 90 % one) touches an edge of the region, and 0.05 / k if that is one of k simultaneous ones. Counts
# have none, because nothing about them is random.


#: The rate of false discoveries with which q-values are compared.
FALSE_DISCOVERY_RATE = 0.05


@dataclass(frozen=True)
class Multiplicity:
    """How far a table of claims can be trusted as a whole.

    `claims_tested` rest on intervals, and `claims_decided` of them are held or refuted. If the truth of each were just
    beyond the edge of its region, `wrong_by_chance_at_most` of their verdicts would be wrong on average. Of the
    `conditions_tested`, so many as the last field says have a q-value of at most FALSE_DISCOVERY_RATE.
    """

    claims_tested: int
    claims_decided: int
    wrong_by_chance_at_most: float
    conditions_tested: int
    conditions_within_false_discovery_rate: int


def with_q_values(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Return the judgements with p-values, and with q-values over all tested conditions of claims together."""
    judgements = tuple(judgements)
    p_values = {(claim, result.condition.name): _p_value(result) for claim, result in _tested(judgements)}
    q_values = dict(zip(p_values, statistics.false_discovery_q_values([*p_values.values()]), strict=True))

    def valued(claim: str, result: ConditionResult) -> ConditionResult:
        tested = claim, result.condition.name
        return replace(result, p_value=p_values.get(tested), q_value=q_values.get(tested))

    return tuple(
        replace(judgement, results=tuple(valued(judgement.claim.id, result) for result in judgement.results))
        for judgement in judgements
    )


def multiplicity(judgements: Sequence[Judgement]) -> Multiplicity:
    """Return what testing so many claims at once means for their verdicts."""
    tested = [judgement for judgement in judgements if any(result.p_value is not None for result in judgement.results)]
    q_values = [result.q_value for judgement in tested for result in judgement.results if result.q_value is not None]
    return Multiplicity(
        claims_tested=len(tested),
        claims_decided=sum(judgement.verdict in (HELD, REFUTED) for judgement in tested),
        wrong_by_chance_at_most=math.fsum(_error(judgement) for judgement in tested),
        conditions_tested=len(q_values),
        conditions_within_false_discovery_rate=sum(value <= FALSE_DISCOVERY_RATE for value in q_values),
    )


def _tested(judgements: Iterable[Judgement]) -> Iterator[tuple[str, ConditionResult]]:
    for judgement in judgements:
        if judgement.claim.kind == CLAIM and judgement.verdict not in (NOT_TESTABLE, NOT_MEASURED):
            for result in judgement.results:
                if isinstance(result.condition, Condition) and result.n >= BLOCKS_FOR_VERDICT:
                    yield judgement.claim.id, result


def _p_value(result: ConditionResult) -> float:
    """Return the p-value of what the estimate says: held if it is inside the region, else refuted.

    To be held it must clear both edges, so the larger tail counts. The tail is doubled, because the data could have
    said either; for the two one-sided tests of no difference (Schuirmann 1987) it is not.
    """
    region = result.condition.region
    tails = [
        (tail(result, edge), (result.estimate > edge) == inside_is_above)
        for edge, inside_is_above in ((region.low, True), (region.high, False))
        if edge is not None
    ]
    if all(inside for _, inside in tails):
        largest = max(p_value for p_value, _ in tails)
        return largest if region.equivalence else min(1.0, 2 * largest)
    return min(1.0, 2 * min(p_value for p_value, inside in tails if not inside))


def _error(judgement: Judgement) -> float:
    """Return the probability of a wrong verdict on a claim whose truth is just beyond the edge of its region."""
    one_sided = (1 - statistics.CONFIDENCE) / 2
    # What is claimed to be exactly 1 can be refuted on either side of it.
    regions = [result.condition.region for result in judgement.results if isinstance(result.condition, Condition)]
    twofold = any(region.equivalence or region.low == region.high for region in regions)
    return 2 * one_sided if twofold else one_sided
