"""`replay talk`: from a data set to the folder of a talk that the check accepts."""

from __future__ import annotations

import argparse
import json
import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, ReplayError
from replay.base.invocation import deck_command, suggestion
from replay.base.paths import ROOT, benchmarks_directory, config_directory
from replay.base.programs import COMPARED_RELEASES
from replay.base.terminal import waiting
from replay.exchange.sides import Side, read_side
from replay.exchange.talk_questions import Comparison, Question, metrics_in, questions_of, usual_metrics
from replay.exchange.talk_slides import seconds, talk_slides

#: What the talk's own claims and answer decide, and what lists those files, so that it is made anew.
_JUDGED = (
    "claims.json", "claims.csv", "answer.csv", COMPARED_RELEASES, "manifest.json", "recording.json", "datapackage.json",
)  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Write the talk; return 0. Raises ReplayError if the data set cannot be read, or the folder is not new."""
    folder = options.out.absolute()
    _require_new(folder)
    side = read_side(benchmarks_directory(), options.data, options.experiment)
    questions = _questions(side, options.experiment, options.metric)
    title = options.title or f"{side.manifest['label']}: what the data say"
    with waiting(f"writing {options.out}"):
        _write_whole(folder, side, title, questions)
    print(f"wrote {options.out}: {len(questions)} of its slides have charts, each with notes")
    _say_next(folder, options.out)
    return 0


def _require_new(folder: Path) -> None:
    if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise ConfigurationError(
            "this is there already, and nothing in it was changed", where=folder, next_step="name a new folder"
        )


def _questions(side: Side, wanted: Sequence[str], metrics: Sequence[str]) -> list[Question]:
    entries = side.manifest["experiments"]
    for name in wanted:
        if name not in side.experiments:
            raise ConfigurationError(
                f"--experiment {name}: {side.name} has no runs of it", next_step=suggestion(name, sorted(entries))
            )
    known = [*dict.fromkeys(metric for name in side.experiments for metric in metrics_in(entries[name]))]
    for name in metrics:
        if name not in known:
            raise ConfigurationError(f"--metric {name}: no chart draws it", next_step=suggestion(name, known))
    taken: set[str] = set()
    found = [
        question
        for name, measured in side.experiments.items()
        for question in questions_of(name, entries[name], measured, metrics or usual_metrics(entries[name]), taken)
    ]
    if not found:
        raise ConfigurationError(f"{side.name} has no charts, so there is nothing to tell", where=side.name)
    return found


def _write_whole(folder: Path, side: Side, title: str, questions: Sequence[Question]) -> None:
    """Write the talk beside its place, and give it its name when it is complete."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".replay-talk-", dir=folder.parent) as beside:
            made = Path(beside) / folder.name
            _write(made, side, title, questions)
            _judge(made, side.name)
            if folder.is_dir():
                folder.rmdir()
            made.rename(folder)
    except OSError as error:
        raise ConfigurationError(
            f"the talk cannot be written: {error.strerror or error}",
            where=folder,
            next_step="name a folder that you may write to",
        ) from error


def _write(folder: Path, side: Side, title: str, questions: Sequence[Question]) -> None:
    told = {one.experiment for one in questions}
    texts = {
        TALK_FILE: talk_yaml(title, side.manifest, questions),
        "config/claims.yaml": claims_yaml(questions),
        CHAPTER: talk_slides(side, questions),
        ".gitignore": "dist/\n.replay/\n.snakemake/\nexperiment.json\nratios.csv\n",
    }
    for name, text in texts.items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    source, copy = benchmarks_directory() / side.name, folder / "benchmarks" / side.name
    left_out = {name for name in side.manifest["experiments"] if name not in told} | {*_JUDGED}
    shutil.copytree(source, copy, ignore=lambda here, names: left_out & {*names} if Path(here) == source else ())
    for name in sorted(told):
        configured = config_directory() / "experiments" / f"{name}.yaml"
        if configured.is_file():
            (folder / "config" / "experiments").mkdir(exist_ok=True)
            shutil.copyfile(configured, folder / "config" / "experiments" / configured.name)


def _judge(folder: Path, data_set: str) -> None:
    """Derive the copy under the talk's own claims, in a process that takes this folder for its project."""
    environment = {key: text for key, text in os.environ.items() if key not in ("REPLAY_CONFIG", "REPLAY_BENCHMARKS")}
    done = subprocess.run(
        [sys.executable, "-m", "replay", "derive", "--data", data_set],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise ReplayError(
            f"the copy of {data_set} cannot be derived under the talk's claims:\n{done.stdout}{done.stderr}",
            where=folder,
            next_step="derive the data set where it is, and see whether it says the same",
        )


def _say_next(folder: Path, out: Path) -> None:
    """Have the deck write the figures into the slides, where it is at hand, and say what comes next."""
    talk = out if Path.cwd() == ROOT else folder
    check, present = (
        deck_command(script, talk=talk) or f"REPLAY_TALK={shlex.quote(str(talk))} npm run {script}"
        for script in ("check", "present")
    )
    npm = shutil.which("npm")
    if ROOT is None or npm is None:
        print("The slides have a ? for each figure. The deck of a checkout of Replay, which needs npm, writes them:")
        print(f"next: {check} -- --fix\n      {present}")
        return
    environment = {**os.environ, "REPLAY_TALK": str(folder)}
    environment.pop("REPLAY_BENCHMARKS", None)
    with waiting("writing figures into the slides"):
        done = subprocess.run(
            [npm, "run", "--silent", "check", "--", "--fix"],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise ReplayError(
            f"the talk is there, but its check ends with status {done.returncode}:\n{done.stdout}{done.stderr}",
            where=folder,
            next_step=f"correct what it names, then: {check}",
        )
    print(done.stdout.rstrip().rpartition("\n")[2])
    print(f"next: edit {out / TALK_FILE} and {out / CHAPTER}, then:")
    print(f"      {check}\n      {present}")


TALK_FILE = "slides/talk/talk.yaml"
CHAPTER = "slides/talk/talk.md"
SOURCE = "data"


def talk_yaml(title: str, manifest: Mapping[str, Any], questions: Sequence[Question]) -> str:
    """Return the talk's talk.yaml."""
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
  - {Path(CHAPTER).name}
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
