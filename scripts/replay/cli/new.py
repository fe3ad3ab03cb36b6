"""`replay new`: writes an example that works, to be edited, and says what to run next."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.invocation import deck_command, replay_command
from replay.base.paths import ROOT, benchmarks_directory, config_directory, program_file, project_directory, shown
from replay.cli.new_claim import configured, new_claim
from replay.cli.templates import TRIAL, Made, measuring, template, write_new
from replay.design.configuration import claims_path, load_claims_document, load_validated_document
from replay.evidence import durable
from replay.tools import find_reader


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


def _slide(options: argparse.Namespace) -> Made:
    """Return the slide, and the talk if there is none. Raises ConfigurationError if it has nothing to say."""
    experiment = configured(options.experiment or options.name)
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
    claims = load_claims_document().data["claims"] if claims_path().exists() else []
    about = [claim for claim in claims if claim["experiment"] == experiment and "chart" in claim]
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


_KINDS = {"experiment": _experiment, "claim": new_claim, "slide": _slide, "tool": _tool}
