"""`replay talk`: from a data set to the folder of a talk that the check accepts."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from replay.base.errors import ConfigurationError, ReplayError
from replay.base.invocation import suggestion
from replay.base.paths import ROOT, benchmarks_directory, config_directory
from replay.base.releases import COMPARED_RELEASES
from replay.base.terminal import waiting
from replay.exchange.compare.model import Side
from replay.exchange.compare.read import read_side
from replay.exchange.talk.files import CHAPTER, claims_yaml, talk_yaml
from replay.exchange.talk.questions import Question, metrics_in, questions_of, usual_metrics
from replay.exchange.talk.slides import talk_slides

#: What the talk's own claims and answer decide, so that it is made anew.
_JUDGED = ("claims.json", "claims.csv", "answer.csv", COMPARED_RELEASES)


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
        "config/talk.yaml": talk_yaml(title, side.manifest, questions),
        "config/claims.yaml": claims_yaml(questions),
        CHAPTER: talk_slides(side.manifest, questions),
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
    talk = f"REPLAY_TALK={shlex.quote(str(out if Path.cwd() == ROOT else folder))}"
    npm = shutil.which("npm")
    if ROOT is None or npm is None:
        print("The slides have a ? for each figure. The deck of a checkout of Replay, which needs npm, writes them:")
        print(f"next: {talk} npm run check -- --fix\n      {talk} npm run present")
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
            next_step=f"correct what it names, then: {talk} npm run check",
        )
    print(done.stdout.rstrip().rpartition("\n")[2])
    print(f"next: edit {out / 'config' / 'talk.yaml'} and {out / CHAPTER}, then:")
    print(f"      {talk} npm run check\n      {talk} npm run present")
