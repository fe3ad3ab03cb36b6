"""Reads `config/claims.yaml` and refuses nonsense: unknown variants, levels, metrics, and ids that stand twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.claims.model import Claim, Condition, Region, Selector
from replay.configuration import Document, load_validated_document
from replay.errors import ConfigurationError
from replay.paths import ROOT, config_directory
from replay.plan import experiment_names, load_experiment


def load_claims() -> list[Claim]:
    """Return all claims. Raises ConfigurationError naming file, line and what is wrong."""
    document = load_validated_document(
        config_directory() / "claims.yaml", ROOT / "config" / "schemas" / "claims.schema.json"
    )
    known = {name: load_experiment(name) for name in experiment_names()}
    claims: dict[str, Claim] = {}
    for number, raw in enumerate(document.data["claims"]):
        if raw["id"] in claims:
            raise ConfigurationError(f"two claims are called {raw['id']!r}", where=document.where("claims", number))
        claims[raw["id"]] = _claim(raw, known.get(raw["experiment"]), document, number)
    return list(claims.values())


def _claim(raw: Mapping[str, Any], experiment: Mapping[str, Any] | None, document: Document, number: int) -> Claim:
    if experiment is None and raw["conditions"]:
        raise ConfigurationError(
            f"there is no experiment {raw['experiment']!r}",
            where=document.where("claims", number, "experiment"),
            next_step="without one a claim has no conditions, and is not measured",
        )
    conditions = []
    for index, condition in enumerate(raw["conditions"]):
        where = document.where("claims", number, "conditions", index)
        metric = condition.get("metric", raw["metric"])
        if metric not in (names := [one["metric"] for one in experiment["metrics"]]):
            raise ConfigurationError(f"metric {metric!r} is none of {names}", where=where)
        conditions.append(_condition(condition, metric, experiment, where))
    return Claim(
        id=raw["id"],
        sentence=raw["sentence"],
        source=raw["source"],
        experiment=raw["experiment"],
        limiter=tuple(raw.get("limiter", ())),
        conditions=tuple(conditions),
    )


def _condition(raw: Mapping[str, Any], metric: str, experiment: Mapping[str, Any], where: str) -> Condition:
    pairs = [(1, raw["over"], raw["under"])]
    if "per" in raw:
        pairs.append((-1, raw["per"]["over"], raw["per"]["under"]))
    terms = []
    for sign, over, under in pairs:
        terms.append((sign, _selector(over, experiment, where)))
        terms.append((-sign, _selector({**over, **under}, experiment, where)))
    return Condition(raw["name"], raw["says"], metric, tuple(terms), _region(raw, where))


def _selector(raw: Mapping[str, Any], experiment: Mapping[str, Any], where: str) -> Selector:
    variants = [one["name"] for one in experiment["variants"]]
    if raw.get("variant") not in variants:
        raise ConfigurationError(f"variant {raw.get('variant')!r} is none of {variants}", where=where)
    factors = experiment["factors"]
    levels = {}
    for factor, allowed in factors.items():
        if factor not in raw:
            raise ConfigurationError(f"no level of the factor {factor}", where=where, next_step=f"one of {allowed}")
        wanted = raw[factor] if isinstance(raw[factor], list) else [raw[factor]]
        if unknown := [level for level in wanted if level not in allowed]:
            raise ConfigurationError(f"{factor}: {unknown[0]!r} is none of {allowed}", where=where)
        levels[factor] = tuple(wanted)
    if unknown := [name for name in raw if name != "variant" and name not in factors]:
        raise ConfigurationError(f"{unknown[0]!r} is not a factor", where=where, next_step=f"factors: {list(factors)}")
    return Selector(raw["variant"], levels)


def _region(raw: Mapping[str, Any], where: str) -> Region:
    if "within" in raw:
        return Region(1 - raw["within"], 1 + raw["within"], equivalence=True)
    if "between" in raw:
        low, high = raw["between"]
        if low >= high:
            raise ConfigurationError(f"between: {low:g} is not less than {high:g}", where=where)
        return Region(low, high)
    return Region(raw.get("above"), raw.get("below"))
