"""Reads and checks `config/answer.yaml`: refuses unknown modes, experiments, metrics, levels and variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.base.did_you_mean import suggestion
from replay.base.errors import ConfigurationError
from replay.claims.answer.model import COMPARED, FIGURES, Mode, Presupposed, Question, Source
from replay.claims.predicate import parse_predicate
from replay.design.documents import Document
from replay.design.experiments import experiment_names, load_experiment
from replay.design.talk_files import load_answer_document


def load_question() -> Question:
    """Return what config/answer.yaml says. Raises ConfigurationError that names the file, the line and the mistake."""
    document = load_answer_document()
    modes = tuple(_mode(raw) for raw in document.data["modes"])
    for number, mode in enumerate(modes):
        if mode.name in [other.name for other in modes[:number]]:
            raise ConfigurationError(
                f"two modes are called {mode.name!r}", where=document.where("modes", number), next_step="rename one"
            )
    if (count := sum(mode.is_reference for mode in modes)) != 1:
        raise ConfigurationError(
            f"{count} modes are the reference",
            where=document.where("modes"),
            next_step="give `reference: true` to exactly one mode, with which the others are compared",
        )
    sources = {}
    for name, several in document.data["figures"].items():
        if name not in FIGURES:
            raise ConfigurationError(
                f"there is no figure {name!r}",
                where=document.where("figures", name),
                next_step=suggestion(name, list(FIGURES)),
            )
        sources[name] = tuple(_source(raw, name, modes, document, number) for number, raw in enumerate(several))
    return Question(modes, sources)


def _mode(raw: Mapping[str, Any]) -> Mode:
    return Mode(
        raw["name"],
        raw["label"],
        raw["mode"],
        bool(raw.get("reference")),
        raw.get("snapshot_interval_seconds"),
        raw.get("journal_poll_age_seconds"),
    )


def _source(raw: Mapping[str, Any], figure: str, modes: tuple[Mode, ...], document: Document, number: int) -> Source:
    def refuse(what: str, known: list[str], wrong: str, *keys: str | int) -> None:
        where = document.where("figures", figure, number, *keys)
        raise ConfigurationError(what, where=where, next_step=suggestion(wrong, known))

    name, names = raw["experiment"], [mode.name for mode in modes]
    if name not in experiment_names():
        refuse(f"there is no experiment {name!r}", experiment_names(), name, "experiment")
    experiment = load_experiment(name)
    metrics = [one["metric"] for one in experiment["metrics"]]
    variants = [one["name"] for one in experiment["variants"]]
    for metric in raw["metrics"]:
        if metric not in metrics:
            refuse(f"{name} has no metric {metric!r}", metrics, metric, "metrics")
    for mode, variant in raw["variants"].items():
        if mode not in names:
            refuse(f"there is no mode {mode!r}", names, mode, "variants")
        if variant not in variants:
            refuse(f"{name} has no variant {variant!r}", variants, variant, "variants")
    levels = _levels(raw.get("levels", {}), experiment, document.where("figures", figure, number, "levels"))
    reference = next(mode.name for mode in modes if mode.is_reference)
    if FIGURES[figure].kind in COMPARED and reference not in raw["variants"]:
        refuse(f"nothing measures the reference {reference!r}", names, reference, "variants")
    presupposes = []
    for index, one in enumerate(raw.get("presupposes", ())):
        where = document.where("figures", figure, number, "presupposes", index)
        for mode in one["of"]:
            if mode not in raw["variants"]:
                refuse(f"of: {mode!r} is not measured here", list(raw["variants"]), mode, "presupposes", index)
        presupposes.append(Presupposed(parse_predicate(one["that"], where), frozenset(one["of"])))
    return Source(name, tuple(raw["metrics"]), levels, dict(raw["variants"]), tuple(presupposes))


def _levels(raw: Mapping[str, Any], experiment: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return one level of each of the experiment's factors. Raises ConfigurationError if one is missing or unknown."""
    factors = experiment["factors"]
    for factor, level in raw.items():
        if factor not in factors:
            raise ConfigurationError(f"{factor!r} is not a factor", where=where, next_step=f"factors: {list(factors)}")
        if level not in factors[factor]:
            raise ConfigurationError(f"{factor}: {level!r} is not one of {factors[factor]}", where=where)
    levels = {factor: several[0] for factor, several in factors.items() if len(several) == 1} | dict(raw)
    if lacking := [factor for factor in factors if factor not in levels]:
        raise ConfigurationError(
            f"a level of the factor {lacking[0]} is missing", where=where, next_step=f"one of {factors[lacking[0]]}"
        )
    return levels
