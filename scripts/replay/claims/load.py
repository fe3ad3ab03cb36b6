"""Reads and checks `config/claims.yaml`: unknown variants, levels, metrics, sources, charts; duplicate ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.paths import program_file
from replay.claims import claims_path
from replay.claims.charts import charts_of
from replay.claims.model import DECIDES_ANY, Book, Claim, Condition, Count, Plain, Region, Selector
from replay.claims.table import PLACEHOLDER
from replay.claims.wording import plain_of, wording_of
from replay.config.documents import Document, load_validated_document
from replay.config.experiments import experiment_names, load_experiment


def load_book() -> Book:
    """Return all claims and sources. Raises ConfigurationError naming file, line and what is wrong."""
    if not claims_path().exists():
        raise ConfigurationError(
            "this project has no claims", where=claims_path(), next_step="write them into this file"
        )
    document = load_validated_document(claims_path(), program_file("schemas", "claims.schema.json"))
    known = {name: load_experiment(name) for name in experiment_names()}
    sources = dict(document.data["sources"])
    claims: dict[str, Claim] = {}
    for number, raw in enumerate(document.data["claims"]):
        if raw["id"] in claims:
            raise ConfigurationError(f"two claims are called {raw['id']!r}", where=document.where("claims", number))
        if raw["source"] not in sources:
            raise ConfigurationError(
                f"there is no source {raw['source']!r}",
                where=document.where("claims", number, "source"),
                next_step=f"sources: {', '.join(sources)}",
            )
        claims[raw["id"]] = _claim(raw, known.get(raw["experiment"]), document, number)
    said = document.data.get("plain")
    return Book(
        sources, tuple(claims.values()), wording_of(said, list(known), document.where("plain")) if said else None
    )


def _claim(raw: Mapping[str, Any], experiment: Mapping[str, Any] | None, document: Document, number: int) -> Claim:
    if experiment is None:
        raise ConfigurationError(
            f"there is no experiment {raw['experiment']!r}",
            where=document.where("claims", number, "experiment"),
            next_step=f"experiments: {', '.join(experiment_names())}",
        )
    conditions = []
    for index, condition in enumerate(raw["conditions"]):
        where = document.where("claims", number, "conditions", index)
        conditions.append(_condition(condition, condition.get("metric", raw["metric"]), experiment, where))
    if "chart" in raw:
        _check_chart(raw, experiment, document.where("claims", number, "chart"))
    return Claim(
        id=raw["id"],
        sentence=raw["sentence"],
        source=raw["source"],
        experiment=raw["experiment"],
        limiter=tuple(raw.get("limiter", ())),
        limiter_decides=raw.get("limiter_decides", DECIDES_ANY),
        chart=raw.get("chart"),
        conditions=tuple(conditions),
        plain=_plain(raw, document, number),
    )


def _plain(raw: Mapping[str, Any], document: Document, number: int) -> Plain | None:
    if "plain" not in raw:
        return None
    where = document.where("claims", number, "plain")
    if "plain" not in document.data:
        raise ConfigurationError(
            "a claim has plain words, but the file does not say what is said of every claim",
            where=where,
            next_step="add the key `plain` beside `sources` and `claims`",
        )
    return plain_of(raw["plain"], [one["name"] for one in raw["conditions"] if "over" in one], where)


def _check_chart(raw: Mapping[str, Any], experiment: Mapping[str, Any], where: str) -> None:
    charts = charts_of(experiment)
    if raw["chart"] not in charts:
        raise ConfigurationError(
            f"{raw['experiment']} draws no chart {raw['chart']!r}",
            where=where,
            next_step=f"charts: {', '.join(charts)}",
        )


def _condition(raw: Mapping[str, Any], metric: str, experiment: Mapping[str, Any], where: str) -> Condition | Count:
    metrics = {one["metric"]: one for one in experiment["metrics"]}
    if metric not in metrics:
        raise ConfigurationError(f"metric {metric!r} is not one of {list(metrics)}", where=where)
    for name in PLACEHOLDER.findall(raw["says"]):
        if name not in experiment:
            raise ConfigurationError(f"says: the experiment does not state {{{name}}}", where=where)
    if "cells" in raw:
        if (unit := metrics[metric]["unit"]) != "count":
            raise ConfigurationError(
                f"equals: {metric} is in {unit}, but only counts can be compared exactly",
                where=where,
                next_step="write a region: above, below, between or within",
            )
        return Count(raw["name"], raw["says"], metric, _selector(raw["cells"], experiment, where), raw["equals"])
    pairs = [(1, raw["over"], raw["under"])]
    if "per" in raw:
        pairs.append((-1, raw["per"]["over"], raw["per"]["under"]))
    terms = []
    for sign, over, under in pairs:
        terms.append((sign, _selector(over, experiment, where)))
        terms.append((-sign, _selector({**over, **under}, experiment, where)))
    better = metrics[metric]["better"]
    return Condition(raw["name"], raw["says"], metric, tuple(terms), _region(raw, where), better)


def _selector(raw: Mapping[str, Any], experiment: Mapping[str, Any], where: str) -> Selector:
    variants = [one["name"] for one in experiment["variants"]]
    if raw.get("variant") not in variants:
        raise ConfigurationError(f"variant {raw.get('variant')!r} is not one of {variants}", where=where)
    factors = experiment["factors"]
    levels = {}
    for factor, allowed in factors.items():
        if factor not in raw:
            raise ConfigurationError(
                f"a level of the factor {factor} is missing", where=where, next_step=f"one of {allowed}"
            )
        wanted = raw[factor] if isinstance(raw[factor], list) else [raw[factor]]
        if unknown := [level for level in wanted if level not in allowed]:
            raise ConfigurationError(f"{factor}: {unknown[0]!r} is not one of {allowed}", where=where)
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
