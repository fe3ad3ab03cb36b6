"""Reads and checks `config/claims.yaml`: refuses unknown variants, levels, metrics, sources, charts; duplicate ids."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.claims.brief import check_wording, plain_of
from replay.claims.model import (
    DECIDES_ANY,
    Book,
    Claim,
    Condition,
    Count,
    Presupposition,
    Region,
    Selector,
)
from replay.claims.tables import PLACEHOLDER
from replay.derive.facts import FACTS, FactType, parse_predicate
from replay.design.configuration import (
    claim_digest,
    claims_path,
    experiment_names,
    load_claims_document,
    load_experiment,
)
from replay.design.design import within

#: What a claim says in the words of the file; what is left out has its default.
_AS_WRITTEN = ("id", "sentence", "source", "experiment", "chart", "kind", "presupposes_nothing", "differs", "ours")
#: How the names of imported experiments begin, and of no configured one.
IMPORTED = "imported"


def load_book(data_set: Path | None = None) -> Book:
    """Return all claims and sources. Raises ConfigurationError that names the file, the line and the mistake.

    Claims may be about configured experiments and about those that were imported into `data_set`.
    """
    if not claims_path().exists():
        raise ConfigurationError(
            "this project has no claims", where=claims_path(), next_step="write them into this file"
        )
    document = load_claims_document()
    known = known_experiments(data_set)
    sources = dict(document.data["sources"])
    claims: dict[str, Claim] = {}
    plain = document.data.get("plain")
    for number, raw in enumerate(document.data["claims"]):
        at = partial(document.where, "claims", number)
        if raw["id"] in claims:
            raise ConfigurationError(f"two claims are called {raw['id']!r}", where=at())
        if "plain" in raw and not plain:
            raise ConfigurationError(
                "a claim has plain words, but the file lacks the wording that all claims share",
                where=at("plain"),
                next_step="add the key `plain` beside `sources` and `claims`",
            )
        claims[raw["id"]] = _claim(raw, known, sources, at)
    if plain:
        check_wording(plain, list(known), document.where("plain"))
    return Book(sources, tuple(claims.values()), plain)


def known_experiments(data_set: Path | None = None) -> dict[str, Mapping[str, Any]]:
    """Return the experiments that claims may be about, by name: configured ones, and those imported into `data_set`.

    Nobody configured an imported experiment: its design, which was inferred from the results, says what it is.
    """
    configured = {name: load_experiment(name) for name in experiment_names()}
    return {**(_imported_into(data_set) if data_set else {}), **configured}


def _imported_into(data_set: Path) -> dict[str, Mapping[str, Any]]:
    """Return imported designs by experiment. One that cannot be read is left out: deriving names it."""
    imported = {}
    for path in sorted(data_set.glob(f"{IMPORTED}-*/raw/design-*.json")):
        try:
            imported[path.parts[-3]] = {**json.loads(path.read_bytes()), "name": path.parts[-3]}
        except (OSError, ValueError, TypeError):
            continue
    return imported


def _claim(
    raw: Mapping[str, Any],
    known: Mapping[str, Mapping[str, Any]],
    sources: Mapping[str, str],
    at: Callable[..., str],
) -> Claim:
    """Return a claim. `at` names the file and the line of a key in it."""
    experiment = known.get(raw["experiment"])
    if experiment is None:
        raise ConfigurationError(
            f"there is no experiment {raw['experiment']!r}",
            where=at("experiment"),
            next_step=f"experiments: {', '.join(known)}",
        )
    _check_source(raw["source"], sources, at("source"))
    conditions = []
    for index, condition in enumerate(raw["conditions"]):
        where = at("conditions", index)
        metric = condition.get("metric", raw["metric"])
        conditions += [_condition(each, metric, experiment, where) for each in _each(condition, where)]
    ratios = [each.name for each in conditions if isinstance(each, Condition)]
    if "chart" in raw and raw["chart"] not in (charts := charts_of(experiment)):
        raise ConfigurationError(
            f"{raw['experiment']} draws no chart {raw['chart']!r}",
            where=at("chart"),
            next_step=f"charts: {', '.join(charts)}",
        )
    return Claim(
        **{key: raw[key] for key in _AS_WRITTEN if key in raw},
        conditions=tuple(conditions),
        presupposes=tuple(
            _presupposition(each, conditions, experiment, at("presupposes", index))
            for index, each in enumerate(raw.get("presupposes", ()))
        ),
        says=tuple(
            _quotation({"source": raw["source"], **quoted}, sources, at("says", index))
            for index, quoted in enumerate(raw.get("says", ()))
        ),
        digest=claim_digest(raw),
        plain=plain_of(raw["plain"], ratios, at("plain")) if "plain" in raw else None,
    )


def _presupposition(
    raw: Mapping[str, Any], conditions: Sequence[Condition | Count], experiment: Mapping[str, Any], where: str
) -> Presupposition:
    wanted = raw.get("of", {})
    slower, wanted = wanted == "slower", {} if wanted == "slower" else wanted
    wanted = {key: tuple(value) if isinstance(value, list) else (value,) for key, value in wanted.items()}
    variants, levels = wanted.pop("variant", ()), wanted
    if unknown := [factor for factor in levels if factor not in experiment["factors"]]:
        raise ConfigurationError(
            f"of: {unknown[0]!r} is not a factor", where=where, next_step=f"factors: {list(experiment['factors'])}"
        )
    selectors = [selector for each in conditions if isinstance(each, Condition) for selector in each.selectors]
    if not any(_matches(selector, variants, levels) for selector in selectors):
        raise ConfigurationError(
            "of: none of the claim's ratios has such a cell",
            where=where,
            next_step="name a variant and levels of its conditions, or leave `of` out to mean all of its cells",
        )
    return Presupposition(
        parse_predicate(raw["that"], where), raw["because"], variants, levels, slower, raw.get("decides", DECIDES_ANY)
    )


def _matches(selector: Selector, variants: Sequence[str], levels: Mapping[str, Sequence[Any]]) -> bool:
    if variants and selector.variant not in variants:
        return False
    return any(within(point, levels) for point in selector.points())


def _each(raw: Mapping[str, Any], where: str) -> list[Mapping[str, Any]]:
    """Return the conditions that a condition with `each` stands for, one per level; otherwise the condition itself."""
    if "each" not in raw:
        return [raw]
    factor, rest = raw["each"], {key: value for key, value in raw.items() if key != "each"}
    levels = raw["over"].get(factor)
    if not isinstance(levels, list) or len(levels) < 2 or "per" in raw:
        raise ConfigurationError(
            f"each: `over` has no list of levels for {factor}, or the condition has a `per`",
            where=where,
            next_step="list two or more levels of that factor in `over`, and leave out `per`",
        )
    return [
        {
            **rest,
            "name": f"{raw['name']}-{level}",
            "over": {**raw["over"], factor: level},
            "simultaneous": len(levels),
        }
        for level in levels
    ]


def _quotation(raw: Mapping[str, str], sources: Mapping[str, str], where: str) -> dict[str, str]:
    _check_source(raw["source"], sources, where)
    return {key: raw[key] for key in ("words", "place", "source")}


def _check_source(source: str, sources: Mapping[str, str], where: str) -> None:
    if source not in sources:
        raise ConfigurationError(
            f"there is no source {source!r}", where=where, next_step=f"sources: {', '.join(sources)}"
        )


def _condition(raw: Mapping[str, Any], metric: str, experiment: Mapping[str, Any], where: str) -> Condition | Count:
    metrics = {each["metric"]: each for each in experiment["metrics"]}
    if metric not in metrics and metric in FACTS and FACTS[metric].type is not FactType.WORD:
        # The facts that claims use are costs, so less is better.
        metrics[metric] = {"unit": FACTS[metric].type.value, "better": "lower"}
    if metric not in metrics:
        raise ConfigurationError(f"metric {metric!r} is not one of {list(metrics)}", where=where)
    for name in PLACEHOLDER.findall(raw["says"]):
        if name not in experiment and name not in experiment["factors"]:
            raise ConfigurationError(f"says: the experiment does not state {{{name}}}", where=where)
    if "cells" in raw:
        if (unit := metrics[metric]["unit"]) != "count":
            raise ConfigurationError(
                f"equals: {metric} is in {unit}, but only counts can be compared exactly",
                where=where,
                next_step="write a region: above, below, between or within_factor",
            )
        return Count(raw["name"], raw["says"], metric, _selector(raw["cells"], experiment, where), raw["equals"])
    pairs = [(1, raw["over"], raw["under"])]
    if "per" in raw:
        pairs.append((-1, raw["per"]["over"], raw["per"]["under"]))
    terms = []
    for sign, over, under in pairs:
        terms.append((sign, _selector(over, experiment, where)))
        terms.append((-sign, _selector({**over, **under}, experiment, where)))
    if raw.get("independent") and (odd := [name for name in ("per", "simultaneous", "within_factor") if name in raw]):
        raise ConfigurationError(
            "independent: only a single ratio without a margin has Welch's interval",
            where=where,
            next_step=f"leave out {'each' if odd[0] == 'simultaneous' else odd[0]}, or independent",
        )
    better, independent = metrics[metric]["better"], raw.get("independent", False)
    return Condition(
        raw["name"], raw["says"], metric, tuple(terms), _region(raw, where), better, raw.get("simultaneous", 1),
        independent,
    )  # fmt: skip


def _selector(raw: Mapping[str, Any], experiment: Mapping[str, Any], where: str) -> Selector:
    variants = [variant["name"] for variant in experiment["variants"]]
    if raw.get("variant") not in variants:
        raise ConfigurationError(f"variant {raw.get('variant')!r} is not one of {variants}", where=where)
    levels = {name: wanted for name, wanted in raw.items() if name != "variant"}
    return Selector(raw["variant"], levels_of(levels, experiment["factors"], where))


def levels_of(raw: Mapping[str, Any], factors: Mapping[str, Sequence[Any]], where: str) -> dict[str, tuple[Any, ...]]:
    """Return the levels of each factor. Raises ConfigurationError for a missing or unknown factor or level."""
    if unknown := [name for name in raw if name not in factors]:
        raise ConfigurationError(f"{unknown[0]!r} is not a factor", where=where, next_step=f"factors: {list(factors)}")
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
    return levels


def _region(raw: Mapping[str, Any], where: str) -> Region:
    if "within_factor" in raw:
        return Region(1 / raw["within_factor"], raw["within_factor"], equivalence=True)
    if "between" in raw:
        low, high = raw["between"]
        if low > high:
            raise ConfigurationError(f"between: {low:g} is more than {high:g}", where=where)
        return Region(low, high)
    return Region(raw.get("above"), raw.get("below"))


def charts_of(experiment: Mapping[str, Any]) -> list[str]:
    """Return `<experiment>/<aggregate>` for each chart of an experiment.

    A metric over time has one chart for each level of the x factor, and its name ends in that level; see
    docs/data-formats.md. One with a series for each level of another factor has a chart for each level of the others.
    """
    x_factor, named_by = experiment.get("x_factor"), experiment["workload_factors"]
    charts = []
    for metric in experiment["metrics"]:
        factors, starts = named_by, [metric["name"]]
        if metric.get("rows"):
            drawn = (None, metric["rows"], metric["x_factor"])
            factors = [factor for factor in (*named_by, x_factor) if factor not in drawn]
        elif metric.get("series") and x_factor:
            factors = [*named_by, x_factor]
        elif metric.get("ratio") and x_factor and not metric.get("entity"):
            starts.append(f"ratio-{metric['name']}")
        points = [*itertools.product(*(experiment["factors"][factor] for factor in factors))]
        charts += ["-".join(map(str, (start, *levels))) for start in starts for levels in points]
    return [f"{experiment['name']}/{chart}" for chart in charts]
