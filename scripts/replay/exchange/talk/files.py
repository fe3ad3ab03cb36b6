"""The text of the files of a new talk: config/talk.yaml and config/claims.yaml. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from replay.exchange.talk.questions import Comparison, Question
from replay.exchange.talk.slides import seconds

CHAPTER = "slides/talk.md"
SOURCE = "data"


def talk_yaml(title: str, manifest: Mapping[str, Any], questions: Sequence[Question]) -> str:
    """Return config/talk.yaml."""
    claims = "all" if comparisons_of(questions) else "[]"
    return f"""\
# What this talk is. Every key is explained in docs/your-own-talk.md of Replay; an empty one is left out of the slides.
title: {_text(title)}
description: {_text(f"Charts and figures of the data set {manifest['label']}.")}
speaker: ""
event: ""
date: ""
contact: ""
# Where people can clone this folder. Only publishing needs it.
repository: ""

data_set: {manifest["data_set"]}
claims: {claims}
cuts:
  - minutes: {math.ceil(seconds(questions) / 60)}
chapters:
  - {CHAPTER}
accent: {{ light: "#005f99", dark: "#7cc4f5" }}
{_series(manifest, questions)}"""


def _series(manifest: Mapping[str, Any], questions: Sequence[Question]) -> str:
    """Return the looks of what is compared: the same in every chart."""
    told = [manifest["experiments"][name]["variants"] for name in dict.fromkeys(one.experiment for one in questions)]
    compared = [variants for variants in told if any(one["reference"] for one in variants)]
    looks: dict[str, list[str]] = {"reference": [], "accent": []}
    for variants in compared:
        others = [one["label"] for one in variants if not one["reference"]]
        looks["reference"] += [one["label"] for one in variants if one["reference"]]
        looks["accent"] += others[:1]
    lines = [
        f"  {look}: {json.dumps([*dict.fromkeys(names)], ensure_ascii=False)}" for look, names in looks.items() if names
    ]
    return "\n".join(["series:", *lines, ""]) if lines else ""


def claims_yaml(questions: Sequence[Question]) -> str | None:
    """Return config/claims.yaml: a claim for each comparison; None if there is nothing to compare."""
    found = comparisons_of(questions)
    if not found:
        return None
    return (
        '# Which way each comparison goes: "higher" is held, refuted or not settled by the data. These claims were\n'
        "# written after the data were known, so they are exploratory. Put your own in their place: docs/claims.md.\n"
        f"sources:\n  {SOURCE}: The data of this talk\n\nclaims:\n" + "".join(_claim(*one) for one in found)
    )


def comparisons_of(questions: Sequence[Question]) -> list[tuple[str, str, Comparison]]:
    """Return every comparison with its experiment and its chart."""
    return [
        (question.experiment, chart.name, one)
        for question in questions
        for chart in question.charts
        for one in chart.comparisons
    ]


def _claim(experiment: str, chart: str, one: Comparison) -> str:
    return f"""\
  - id: {one.claim}
    sentence: {_text(one.sentence)}
    source: {SOURCE}
    ours: made from the data set, to say which way the difference goes
    experiment: {experiment}
    chart: {experiment}/{chart}
    metric: {one.column}
    presupposes_nothing: it says only what these runs show, whatever limited them
    conditions:
      - name: ratio
        says: {_text(one.says)}
        over: {_selector(*one.over)}
        under: {_selector(*one.under)}
        above: 1
"""


def _selector(variant: str, levels: Mapping[str, Sequence[Any]]) -> str:
    """Return cells as YAML, in the notation of JSON, which is a part of it."""
    listed = {name: one[0] if len(one) == 1 else list(one) for name, one in levels.items()}
    return json.dumps({"variant": variant, **listed}, ensure_ascii=False)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
