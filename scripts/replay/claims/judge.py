"""Reads data sets, and judges the talk's claims by them: one data set alone, and over the campaigns that ship."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from replay.base import stats as statistics
from replay.base.errors import EvidenceError
from replay.base.paths import after_missing, replay_command
from replay.base.programs import major_of, with_names
from replay.claims.campaigns import over_campaigns
from replay.claims.evaluate import judge
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
from replay.claims.tables import read_table
from replay.design.configuration import load_claims_document
from replay.evidence.data_set import CAMPAIGN, MANIFEST, read_campaign


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
    judgements: dict[str, dict[str, Judgement]] = {}
    for campaign in assessments:
        for judgement in campaign.judgements:
            judgements.setdefault(judgement.claim.id, {})[campaign.data_set] = judgement
    over = {claim.id: over_campaigns(claim, judgements.get(claim.id, {})) for claim in book.claims}
    return replace(assessment, over_campaigns=over)


def campaign_folders(data_set: Path) -> list[Path]:
    """Return the data sets beside this one that `campaigns` in config/claims.yaml names and that have its release.

    They are those that ship: somebody's own data set is compared with them, and never changes what they say.
    """
    release = _release(data_set)
    patterns = load_claims_document().data.get("campaigns", ())
    folders = {folder for pattern in patterns for folder in data_set.parent.glob(pattern)}
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
    setup = _of_manifest(data_set, lambda manifest: manifest["setup"])
    versions = [(name, setup.get(f"{key}_version")) for name, key in (("Ceph", "ceph"), ("client", "librbd"))]
    measured_with = ", ".join(f"{name} {with_names(version)}" for name, version in versions if version)
    experiments = _of_manifest(data_set, lambda manifest: manifest.get("experiments", {}))
    machines = {name: entry.get("provenance", {}).get("machines_by_block", {}) for name, entry in experiments.items()}
    return replace(assessment, measured_with=measured_with, machines=machines)


def read_controls(data_set: Path) -> dict[str, Mapping[str, Any]]:
    """Return what the A/A control of each experiment found, from manifest.json; empty if there is no such file.

    Raises EvidenceError if that file cannot be read.
    """
    return _of_manifest(
        data_set,
        lambda manifest: {
            name: entry["control"] for name, entry in manifest["experiments"].items() if entry.get("control")
        },
    )


def _of_manifest(data_set: Path, pick: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """Return what `pick` takes from manifest.json, empty if there is no such file. Raises EvidenceError if it fails."""
    path = data_set / MANIFEST
    try:
        return pick(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(
            f"this manifest cannot be read: {error}",
            where=path,
            next_step=f"derive it again: {replay_command('derive', '--data', data_set.name)}",
        ) from error


# Many claims are tested at once: how many verdicts chance alone would produce, and what survives. Pure.
# A p-value belongs to what a condition's data say, held or refuted. It is 0.05 if the condition's own interval touches
# an edge of the region. Counts have none, because nothing about them is random.


#: The rate of false discoveries with which q-values are compared.
FALSE_DISCOVERY_RATE = 0.05


@dataclass(frozen=True)
class Multiplicity:
    """How far a table of claims can be trusted as a whole.

    `tested` claims rest on intervals, and `decided` of them are held or refuted. If the truth of each were just beyond
    the edge of its region, `by_chance` of their verdicts would be wrong on average. In all, `conditions` were tested,
    and `discoveries` of them have a q-value of at most FALSE_DISCOVERY_RATE.
    """

    tested: int
    decided: int
    by_chance: float
    conditions: int
    discoveries: int


def with_q_values(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Return the judgements with p-values, and with q-values over all tested conditions of claims together."""
    judgements = tuple(judgements)
    tested = [(claim, result.condition.name) for claim, result in _tested(judgements)]
    p_values = [_p_value(result) for _, result in _tested(judgements)]
    q_values = statistics.false_discovery_q_values(p_values)
    values = dict(zip(tested, zip(p_values, q_values, strict=True), strict=True))

    def valued(claim: str, result: ConditionResult) -> ConditionResult:
        p_value, q_value = values.get((claim, result.condition.name), (None, None))
        return replace(result, p_value=p_value, q_value=q_value)

    return tuple(
        replace(judgement, results=tuple(valued(judgement.claim.id, result) for result in judgement.results))
        for judgement in judgements
    )


def multiplicity(judgements: Sequence[Judgement]) -> Multiplicity:
    """Return what testing so many claims at once means for their verdicts."""
    tested = [judgement for judgement in judgements if any(result.p_value is not None for result in judgement.results)]
    q_values = [result.q_value for judgement in tested for result in judgement.results if result.q_value is not None]
    return Multiplicity(
        tested=len(tested),
        decided=sum(judgement.verdict in (HELD, REFUTED) for judgement in tested),
        by_chance=math.fsum(_error(judgement) for judgement in tested),
        conditions=len(q_values),
        discoveries=sum(value <= FALSE_DISCOVERY_RATE for value in q_values),
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
    region, estimate = result.condition.region, math.log(result.estimate)
    if result.freedom is None:
        logs = [math.log(value) for value in result.blocks.values()]
        estimate = math.fsum(logs) / len(logs)
    tails = [
        (_tail(result, math.log(edge)), (estimate > math.log(edge)) == inside_is_above)
        for edge, inside_is_above in ((region.low, True), (region.high, False))
        if edge is not None and edge > 0
    ]
    if all(inside for _, inside in tails):
        tail = max(tail for tail, _ in tails)
        return tail if region.equivalence else min(1.0, 2 * tail)
    return min(1.0, 2 * min(tail for tail, inside in tails if not inside))


def _tail(result: ConditionResult, edge: float) -> float:
    """Return the one-sided p-value of the estimate lying on its side of the logarithm of an edge."""
    if result.freedom is None:
        return statistics.one_sided_p_value([math.log(value) for value in result.blocks.values()], edge)
    half = (math.log(result.high) - math.log(result.low)) / 2
    return statistics.tail_probability(abs(math.log(result.estimate) - edge), half, result.freedom + 1)


def _error(judgement: Judgement) -> float:
    """Return the probability of a wrong verdict on a claim whose truth is just beyond the edge of its region."""
    one_sided = (1 - statistics.CONFIDENCE) / 2
    equivalence = any(result.condition.region.equivalence for result in judgement.results)
    return 2 * one_sided if equivalence else one_sided
