"""`replay new claim`: which of an experiment's first two variants has more, as an entry of config/claims.yaml."""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.invocation import did_you_mean, replay_command
from replay.base.paths import config_directory, program_file, shown
from replay.cli.templates import Made, measuring, template
from replay.design.configuration import (
    Document,
    claims_path,
    experiment_names,
    load_claims_document,
    load_experiment,
    load_validated_document,
)
from replay.design.design import Variant
from replay.design.expansion import expand

#: The source of a claim that nobody published, and its title.
QUESTION = ("question", "A question of our own")
_FIRST = f"""\
# Each sentence of this project that data can confirm or refute, once: docs/claims.md of Replay explains the keys.
sources:
  {QUESTION[0]}: {QUESTION[1]}

claims:
"""


def new_claim(options: argparse.Namespace) -> Made:
    """Return the claim, in a file of its own or among those that are there. Raises ConfigurationError if it is."""
    experiment, path = options.experiment or options.name, claims_path()
    entry = _entry(options.name, configured(experiment))
    steps = [f"make it your sentence, before you measure: {shown(path)}", *measuring(experiment)]
    about = ["--experiment", experiment] if options.experiment else []
    steps.append(replay_command("new", "slide", options.name, *about))
    if not path.exists():
        return Made({path: _FIRST + entry}, steps)
    document = load_claims_document()
    for number, claim in enumerate(document.data["claims"]):
        if claim["id"] == options.name:
            raise ConfigurationError(
                f"there is a claim {options.name!r} already",
                where=document.where("claims", number),
                next_step="choose another name; --experiment says what the claim is about",
            )
    return Made({}, steps, {path: _grown(document, entry)})


def configured(experiment: str) -> Mapping[str, Any]:
    """Return an experiment. Raises ConfigurationError that says how to write it if there is none of that name."""
    if experiment not in (names := experiment_names()):
        raise ConfigurationError(
            f"no experiment {experiment!r}",
            where=config_directory() / "experiments",
            next_step=did_you_mean(experiment, names)
            or f"write it first: {replay_command('new', 'experiment', experiment)}",
        )
    return load_experiment(experiment)


def _entry(claim: str, experiment: Mapping[str, Any]) -> str:
    name = experiment["name"]
    over, under, levels = _compared(experiment)
    drawn = (one for one in experiment["metrics"] if one.get("ratio") and not {"series", "entity"} & one.keys())
    metric = next(drawn, None)
    if metric is None:
        raise ConfigurationError(
            "no metric of this experiment is drawn as a ratio",
            where=f"config/experiments/{name}.yaml",
            next_step="write `ratio: true` in one of its metrics",
        )
    start = metric["name"] if experiment.get("x_factor") is None else f"ratio-{metric['name']}"
    chart = "-".join([start, *(str(levels[factor]) for factor in experiment["workload_factors"])])
    words = {
        "CLAIM": claim,
        "SENTENCE": _text(f"{metric['title']}: higher in “{over.label}” than in “{under.label}”."),
        "EXPERIMENT": name,
        "CHART": f"{name}/{chart}",
        "METRIC": metric["metric"],
        "SAYS": _text(f"{metric['title']}, {over.label} ÷ {under.label}: {', '.join(map(str, levels.values()))}"),
        "OVER": _text({"variant": over.name, **levels}),
        "UNDER": _text({"variant": under.name}),
    }
    return template("claim.yaml", words)


def _compared(experiment: Mapping[str, Any]) -> tuple[Variant, Variant, Mapping[str, Any]]:
    """Return the variant above and the one below the line, and the levels of the first point that has both."""
    for cell_set in expand(experiment, "smoke").sets:
        variants = [cell.variant for cell in cell_set.cells]
        reference = next((one for one in variants if one.reference), None)
        other = next((one for one in variants if not (one.reference or one.control)), None)
        if reference is not None and other is not None:
            if experiment.get("ratio_direction") == "variant/reference":
                return other, reference, cell_set.levels
            return reference, other, cell_set.levels
    raise ConfigurationError(
        "there are no two variants to compare at scale smoke",
        where=f"config/experiments/{experiment['name']}.yaml",
        next_step="mark the variant that the others are compared with by `reference: true`",
    )


def _text(value: Any) -> str:
    """Return a value in the notation of JSON, which is a part of YAML."""
    return json.dumps(value, ensure_ascii=False)


def _grown(document: Document, entry: str) -> str:
    """Return the text of claims.yaml with one more claim, and with the source that it names.

    Raises ConfigurationError if the file is written in a way that this would break.
    """
    lines = [f"{line}\n" for line in document.path.read_text(encoding="utf-8").splitlines()]
    later = [line for keys, line in document.lines.items() if len(keys) == 1 and line > document.lines["claims",]]
    end = min(later, default=len(lines) + 1) - 1
    while not lines[end - 1].strip() or lines[end - 1].startswith("#"):
        end -= 1
    added = textwrap.indent(textwrap.dedent(entry), _indentation(lines, document.lines["claims", 0]))
    places = [(end, f"\n{added}")]
    if QUESTION[0] not in document.data["sources"]:
        first = document.lines["sources", next(iter(document.data["sources"]))]
        places.append((first - 1, f"{_indentation(lines, first)}{QUESTION[0]}: {QUESTION[1]}\n"))
    for place, text in sorted(places, reverse=True):
        lines.insert(place, text)
    _check("".join(lines), document.path, entry)
    return "".join(lines)


def _indentation(lines: list[str], line: int) -> str:
    return re.match(" *", lines[line - 1])[0]


def _check(text: str, path: Path, entry: str) -> None:
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        grown = Path(folder) / path.name
        grown.write_text(text, encoding="utf-8")
        try:
            load_validated_document(grown, program_file("schemas", "claims.schema.json"))
        except ConfigurationError as error:
            raise ConfigurationError(
                "a claim cannot be added to this file, because of the way in which its lists are written",
                where=path,
                next_step=f"add it yourself:\n{entry}",
            ) from error
