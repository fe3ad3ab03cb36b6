"""`replay new`: writes an example that works, to be edited, and says what to run next."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.paths import (
    ROOT,
    benchmarks_directory,
    config_directory,
    deck_command,
    did_you_mean,
    program_file,
    project_directory,
    replay_command,
    shown,
)
from replay.cli.starting_commands import write_new
from replay.design.configuration import (
    Document,
    claims_path,
    configured_claims,
    experiment_names,
    load_claims_document,
    load_experiment,
    load_validated_document,
    parse_validated,
)
from replay.design.design import Variant
from replay.design.expansion import expand
from replay.evidence import durable
from replay.tools import find_reader

#: The data set that examples are measured into.
TRIAL = "trial"
#: The source of a claim that nobody published, and its title.
_QUESTION = ("question", "A question of our own")
_FIRST = f"""\
# Each sentence of this project that data can confirm or refute, once: docs/claims.md of Replay explains the keys.
sources:
  {_QUESTION[0]}: {_QUESTION[1]}

claims:
"""


@dataclass(frozen=True)
class Made:
    """What `new` writes: new files by their paths, and existing ones that grow; and what to do next, in order."""

    texts: Mapping[Path, str]
    steps: list[str]
    grown: Mapping[Path, str] = field(default_factory=dict)


def template(name: str, words: Mapping[str, str]) -> str:
    text = program_file("templates", "new", name).read_text(encoding="utf-8")
    return re.sub("|".join(map(re.escape, words)), lambda match: words[match[0]], text)


def measuring(experiment: str, data_set: str = TRIAL) -> list[str]:
    """Return the commands that measure an experiment for the first time."""
    to_measure = ("--site", "sandbox", "--experiment", experiment, "--scale", "smoke", "--data", data_set)
    return [replay_command("sandbox", "up"), replay_command("measure", *to_measure)]


def run(options: argparse.Namespace) -> int:
    """Write what was asked for and print the next steps; return 0. Raises ConfigurationError if it exists already."""
    made = _KINDS[options.what](options)
    write_new(project_directory(), made.texts)
    for path in made.texts:
        print(f"wrote {shown(path)}")
    for path, text in made.grown.items():
        durable.replace(path, text.encode())
        print(f"added {options.name} to {shown(path)}")
    print("\nnext: " + "\n      ".join(made.steps))
    return 0


def _experiment(options: argparse.Namespace) -> Made:
    path = config_directory() / "experiments" / f"{options.name}.yaml"
    steps = [f"make it your question: {shown(path)}", replay_command("new", "claim", options.name)]
    return Made({path: template("experiment.yaml", {"journal-threads": options.name})}, steps + measuring(options.name))


def _tool(options: argparse.Namespace) -> Made:
    """Return the module of a tool, its test, and an experiment that measures with it."""
    if ROOT is None:
        raise ConfigurationError(
            "a tool is a part of the program, and this one was installed without its source",
            next_step="run this in a checkout of Replay",
        )
    name, module = options.name, options.name.replace("-", "_")
    if find_reader(name) is not None:
        raise ConfigurationError(f"there is a tool {name!r} already", next_step="choose another name")
    words = {"my_tool": module, "my-tool": name, "MyTool": "".join(map(str.capitalize, name.split("-")))}
    wanted = {
        ROOT / "scripts" / "replay" / "tools" / f"{module}.py": "tool.py",
        ROOT / "tests" / "tools" / f"test_{module}.py": "test_tool.py",
        config_directory() / "experiments" / f"{name}.yaml": "tool-experiment.yaml",
    }
    python, test = (os.path.relpath(ROOT / path) for path in (".venv/bin/python", f"tests/tools/test_{module}.py"))
    steps = ["put your own program in its place, there and in the test", shlex.join([python, "-m", "pytest", test])]
    return Made({path: template(source, words) for path, source in wanted.items()}, steps + measuring(name))


# Claims ---------------------------------------------------------------------------------------------------------------


def _claim(options: argparse.Namespace) -> Made:
    """Return the claim, in a file of its own or among those that are there. Raises ConfigurationError if it is."""
    experiment, path = options.experiment or options.name, claims_path()
    entry = _entry(options.name, _configured(experiment))
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


def _configured(experiment: str) -> Mapping[str, Any]:
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
    over, under, levels = _first_pair(experiment)
    drawn = (
        metric for metric in experiment["metrics"] if metric.get("ratio") and not {"series", "entity"} & metric.keys()
    )
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


def _first_pair(experiment: Mapping[str, Any]) -> tuple[Variant, Variant, Mapping[str, Any]]:
    """Return the variant above and the one below the line, and the levels of the first point that has both."""
    for cell_set in expand(experiment, "smoke").sets:
        variants = [cell.variant for cell in cell_set.cells]
        reference = next((variant for variant in variants if variant.reference), None)
        other = next((variant for variant in variants if not (variant.reference or variant.control)), None)
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
    if _QUESTION[0] not in document.data["sources"]:
        first = document.lines["sources", next(iter(document.data["sources"]))]
        places.append((first - 1, f"{_indentation(lines, first)}{_QUESTION[0]}: {_QUESTION[1]}\n"))
    for place, text in sorted(places, reverse=True):
        lines.insert(place, text)
    grown = "".join(lines)
    try:
        parse_validated(document.path, grown, program_file("schemas", "claims.schema.json"))
    except ConfigurationError as error:
        raise ConfigurationError(
            "a claim cannot be added to this file, because of the way in which its lists are written",
            where=document.path,
            next_step=f"add it yourself:\n{entry}",
        ) from error
    return grown


def _indentation(lines: list[str], line: int) -> str:
    return re.match(" *", lines[line - 1])[0]


# Slides ---------------------------------------------------------------------------------------------------------------


def _slide(options: argparse.Namespace) -> Made:
    """Return the slide, and the talk if there is none. Raises ConfigurationError if it has nothing to say."""
    experiment = _configured(options.experiment or options.name)
    claim, condition = _claim_about(experiment["name"], options.name)
    talk, of_talk = _talk(options.talk, options.name)
    usual = of_talk.get("data_set", options.data or TRIAL)
    data_set = options.data or usual
    folder = project_directory() / "slides" / talk
    chart = "{}/aggregate/{}".format(*claim["chart"].split("/"))
    words = {
        "SLIDE": options.name,
        "MORE": f' data-set="{data_set}"' if data_set != usual else "",
        "COMPARED": _compared(experiment, claim, condition),
        "CLAIM": claim["id"],
        "CONDITION": condition["name"],
        "DATA": data_set,
        "CHART": chart,
    }
    texts = {folder / f"{options.name}.md": template("slide.md", words)}
    steps = []
    if not (benchmarks_directory() / data_set / f"{chart}.csv").exists():
        steps += measuring(experiment["name"], data_set)
    else:  # the claim may be younger than the data
        steps.append(replay_command("derive", "--data", data_set))
    if of_talk:
        steps += _to_add(of_talk, folder / "talk.yaml", options.name, claim["id"], data_set)
    else:
        title = {"TITLE": json.dumps(experiment["title"], ensure_ascii=False), "CHAPTER": f"{options.name}.md"}
        texts[folder / "talk.yaml"] = template("talk.yaml", {**title, "DATA": data_set, "CLAIM": claim["id"]})
    steps += _commands(options.name, options.talk, folder)
    return Made(texts, steps)


def _commands(slide: str, talk: str | None, folder: Path) -> list[str]:
    """Return the commands that write the figures into the slide, and show it."""
    calls = [("check", "--fix"), ("present",)]
    if (folder / "evidence.yaml").exists():
        calls.insert(1, ("check", "--accept", slide))
    named = [] if talk is None else ["--talk", talk]
    made = [deck_command(*words, *named, talk=project_directory()) for words in calls]
    return [command for command in made if command] or ["copy this folder to a checkout of Replay, which has the deck"]


def _claim_about(experiment: str, name: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the claim of that name, or the first about the experiment, and its first ratio."""
    about = [claim for claim in configured_claims() if claim["experiment"] == experiment and "chart" in claim]
    for claim in sorted(about, key=lambda claim: claim["id"] != name):
        for condition in claim["conditions"]:
            if "over" in condition and "each" not in condition:
                return claim, condition
    raise ConfigurationError(
        f"no claim with a ratio and a chart is about {experiment}, so a slide has nothing to say",
        where=claims_path(),
        next_step=f"write one first: {replay_command('new', 'claim', experiment)}",
    )


def _talk(asked: str | None, otherwise: str) -> tuple[str, Mapping[str, Any]]:
    """Return the name of the talk and its talk.yaml, which is empty if the talk is new."""
    files = {path.parent.name: path for path in sorted(project_directory().glob("slides/*/talk.yaml"))}
    schema = program_file("schemas", "talk.schema.json")
    talks = {name: load_validated_document(path, schema).data for name, path in files.items()}
    leads = [name for name, talk in talks.items() if talk.get("lead") or len(talks) == 1]
    if asked is None and talks and len(leads) != 1:
        raise ConfigurationError(
            "several talks are here, and none is the lead",
            where=project_directory() / "slides",
            next_step=f"name one: --talk {' or '.join(talks)}",
        )
    name = asked or next(iter(leads), otherwise)
    return name, talks.get(name, {})


def _compared(experiment: Mapping[str, Any], claim: Mapping[str, Any], condition: Mapping[str, Any]) -> str:
    """Return what the claim compares, as the start of a title."""
    labels = {variant["name"]: variant["label"] for variant in experiment["variants"]}
    titles = {metric["metric"]: metric["title"] for metric in experiment["metrics"]}
    over, under = condition["over"]["variant"], condition["under"].get("variant", condition["over"]["variant"])
    if over == under or claim["metric"] not in titles:
        return claim["sentence"].rstrip(".")
    return f"{titles[claim['metric']]}, {labels[over]} against {labels[under]}"


def _to_add(talk: Mapping[str, Any], path: Path, chapter: str, claim: str, data_set: str) -> list[str]:
    """Return what an existing talk.yaml still has to say."""
    steps = [f"add `- {chapter}.md` to `chapters` in {shown(path)}"]
    if isinstance(talk.get("claims"), list) and claim not in talk["claims"]:
        steps.append(f"add `- {claim}` to its `claims`")
    if data_set not in (talk["data_set"], *talk.get("other_data_sets", ())):
        steps.append(f"add {data_set} to its `other_data_sets`")
    return steps


_KINDS = {"experiment": _experiment, "claim": _claim, "slide": _slide, "tool": _tool}
