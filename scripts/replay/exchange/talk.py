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
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from replay.base.errors import ConfigurationError, ReplayError
from replay.base.paths import ROOT, benchmarks_directory, config_directory, deck_command, suggestion
from replay.base.programs import COMPARED_RELEASES
from replay.base.tables import level_text
from replay.base.terminal import waiting
from replay.exchange.importing.arrange import LOADS, SIZES
from replay.exchange.sides import Metric, Side, TidyRun, read_side
from replay.exchange.talk_parts import Slide
from replay.exchange.talk_points import (
    CLIENTS,
    MeasuredVariant,
    Told,
    Walk,
    along,
    compared,
    points_of,
    through_layers,
)
from replay.exchange.talk_sense import Plan, Sense, claims_document, findings_of, sense_of
from replay.exchange.talk_slides import talk_slides
from replay.exchange.talk_titles import VARIANT, noun_of

TALK_FILE = "slides/talk/talk.yaml"
CHAPTER = "slides/talk/talk.md"
LOOK = "slides/talk/look"
_TALK = """\
# What this talk is. Every key is explained in docs/your-own-talk.md of Replay; an empty one is left out of the slides.
"""
_CLAIMS = """\
# What is compared: "refuted" means that a difference is settled. These claims were written after the data were known,
# so they are exploratory. Put what you expect of your next measurement in their place: docs/claims.md.
"""
#: The metrics that say how much was done, the likeliest first.
_RATES = ("iops", "throughput")
#: What the talk's own claims and answer decide, and what lists those files, so that it is made anew.
_JUDGED = (
    "claims.json", "claims.csv", "answer.csv", COMPARED_RELEASES, "manifest.json", "recording.json", "datapackage.json",
)  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Write the talk; return 0. Raises ReplayError if the data set cannot be read, or the folder is not new."""
    folder = options.out.absolute()
    _require_new(folder)
    if options.look and not options.look.is_dir():
        raise ConfigurationError(
            "--look: there is no such folder", where=options.look, next_step="name one as docs/my-look.md describes it"
        )
    side = read_side(benchmarks_directory(), options.data, options.experiment)
    told = _told(side, options.experiment)
    variants = {name: variant for variant in told.variants for name in (variant.name, variant.label)}
    # From here on, what they name.
    options.metric = _chosen("--metric", dict.fromkeys(options.metric), told.experiment.metrics, "no chart draws it")
    options.layers = _chosen("--layers", options.layers, variants, "no such variant")
    with waiting(f"writing {options.out}"):
        slides, sentence = _write_whole(folder, side, told, options)
    appendix = sum(slide.in_appendix for slide in slides)
    print(f"wrote {options.out}: {len(slides) - appendix} slides and {appendix} in the appendix, each with notes")
    print(sentence)
    _say_next(folder, options.out)
    return 0


def _require_new(folder: Path) -> None:
    if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise ConfigurationError(
            "this is there already, and nothing in it was changed", where=folder, next_step="name a new folder"
        )


def _told(side: Side, wanted: Sequence[str]) -> Told:
    """Return the experiment that the talk is about: the one that was named, else the one with the most runs."""
    if len(wanted) > 1:
        raise ConfigurationError(
            "a talk asks one question", next_step="name one --experiment, and start a talk of each"
        )
    entries = side.manifest["experiments"]
    for name in wanted:
        if name not in side.experiments:
            raise ConfigurationError(
                f"--experiment {name}: {side.name} has no runs of it", next_step=suggestion(name, sorted(entries))
            )
    name = max(side.experiments, key=lambda name: len(side.experiments[name].runs), default=None)
    if name is None or not side.experiments[name].metrics:
        raise ConfigurationError(f"{side.name} has no charts, so there is nothing to tell", where=side.name)
    entry, experiment = entries[name], side.experiments[name]
    points = points_of(entry["factors"], experiment.runs)
    by_levels = {tuple(map(level_text, point.levels.values())): point.name for point in points}
    runs: dict[tuple[str, str], dict[int, TidyRun]] = {}
    for run in experiment.runs:
        key = run.variant, by_levels[tuple(run.levels.values())]
        runs.setdefault(key, {})[run.block] = run
    variants = [MeasuredVariant(variant["name"], variant["label"], at) for at, variant in enumerate(entry["variants"])
                if variant["name"] in experiment.variants and not variant.get("control")]  # fmt: skip
    reference = next((variant for variant in variants if entry["variants"][variant.at]["reference"]), None)
    # Without a reference there is nothing to divide by: the variants are different things.
    chosen = [reference, *(variant for variant in variants if variant != reference)] if reference else variants[:1]
    return Told(side.name, name, entry, experiment, tuple(chosen), points, runs)


def _chosen(option: str, wanted: Iterable[str], known: Mapping[str, Any], why: str) -> list[Any]:
    """Return what was named with an option; `why` says why an unknown name is refused."""
    for name in wanted:
        if name not in known:
            raise ConfigurationError(f"{option} {name}: {why}", next_step=suggestion(name, [*known]))
    return [known[name] for name in wanted]


def _write_whole(folder: Path, side: Side, told: Told, options: argparse.Namespace) -> tuple[list[Slide], str]:
    """Write the talk beside its place, and give it its name when it is complete; return its slides and a summary."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".replay-talk-", dir=folder.parent) as beside:
            made = Path(beside) / folder.name
            written = _write(made, side, told, options)
            made.rename(folder)
    except OSError as error:
        raise ConfigurationError(
            f"the talk cannot be written: {error.strerror or error}",
            where=folder,
            next_step="name a folder that you may write to",
        ) from error
    return written


def _write(folder: Path, side: Side, told: Told, options: argparse.Namespace) -> tuple[list[Slide], str]:
    """Write the claims and the data, have them judged, and write what they say."""
    known = told.experiment.metrics
    source = benchmarks_directory() / side.name
    sense = sense_of(told, source / told.name / "raw", (side.manifest.get("setup") or {}).get("memory_bytes"))
    rate = next((known[name] for name in _RATES if name in known), next(iter(known.values())))
    tail = known[sense.tail] if sense.tail else None
    chosen = options.metric or [rate, *([tail] if tail else [])]
    first, *others = told.variants
    shared = [(other, point) for other in others for point in told.points if sense.same_load((first, other), point)]
    ratios = [*compared(told, chosen, shared)]
    walks = [*_walks(told, sense, rate, tail, options.layers)] if ratios or not others else []
    claimed = [*ratios, *(each for walk in walks for each in walk.ratios)]

    _copy(source, folder, told.name)
    # The folder is a project from here on, so that its data are derived under its own claims.
    _put(folder / TALK_FILE, "")
    _put(folder / ".gitignore", "dist/\n.replay/\n.snakemake/\nexperiment.json\nratios.csv\n")
    if claimed:
        _put(folder / "config/claims.yaml", _CLAIMS + _yaml(claims_document(told, claimed, paired=sense.neighbours)))
    _judge(folder, side.name)
    verdicts = folder / "benchmarks" / side.name / "claims.json"
    document = json.loads(verdicts.read_bytes()) if claimed else {}
    by_metric = {
        metric.name: findings_of(document, [each for each in ratios if each.metric == metric]) for metric in chosen
    }
    walked = [(walk, findings_of(document, walk.ratios)) for walk in walks]
    told_walks = [(walk, findings) for walk, findings in walked if len(findings) == len(walk.ratios)]
    plan = Plan(told, sense, side.manifest, rate, tail, by_metric, told_walks)
    slides = talk_slides(plan)
    _put(folder / TALK_FILE, talk_yaml(options.title or _title(plan), plan, slides))
    _put(folder / CHAPTER, "\n\n\n".join(slide.text for slide in slides) + "\n")
    if options.look:
        shutil.copytree(options.look, folder / LOOK, ignore=_leading_out(options.look))
    return slides, _summary(plan)


def _walks(
    told: Told, sense: Sense, rate: Metric, tail: Metric | None, layers: Sequence[MeasuredVariant]
) -> Iterable[Walk]:
    """Yield the walks through layers, along a load as far as it was reached, and along sizes.

    Of a single variant, its tail has one as well.
    """
    known = told.experiment.metrics
    latency = known.get("latency-mean")
    if layers and latency:
        stated = [point for point in told.points if sense.same_load(layers, point) and all(
            told.values(each.name, point, metric.column) for each in layers for metric in (rate, latency))]  # fmt: skip
        yield from (through_layers(told, (rate, latency), layers, point) for point in stated[:1])
    reached = [point for point in told.points if sense.is_reached(told.variants[0], point)]
    walks = [walk for name, factors in (("curve", LOADS), ("clients", CLIENTS)) if latency
             for walk in along(told, name, factors, (rate, latency), reached)]  # fmt: skip
    if (throughput := known.get("throughput")) not in (None, rate):
        walks += along(told, "sizes", SIZES, (rate, throughput), told.points)
    yield from walks
    if tail and walks and len(told.variants) == 1 and (typical := known.get("latency-p50", latency)):
        points = told.points if walks[0].axis in SIZES else reached
        yield from [*along(told, "tail", (walks[0].axis,), (typical, tail), points)][:1]


def _copy(source: Path, folder: Path, experiment: str) -> None:
    """Copy the data set with this experiment alone, and how it was configured."""
    others = {path.name for path in source.iterdir() if path.is_dir() and path.name != experiment}
    left_out = others | {*_JUDGED}
    copy = folder / "benchmarks" / source.name
    led_out = _leading_out(source)
    shutil.copytree(
        source,
        copy,
        ignore=lambda here, names: led_out(here, names) | (left_out & {*names} if Path(here) == source else set()),
    )
    configured = config_directory() / "experiments" / f"{experiment}.yaml"
    if configured.is_file():
        _put(folder / "config/experiments" / configured.name, configured.read_text(encoding="utf-8"))


def _leading_out(root: Path) -> Callable[[str, Sequence[str]], set[str]]:
    """Return what names the links of a folder that lead out of it, nowhere, or back to where they are.

    A copy would hold what is there, and publish it, or would have no end.
    """
    real = os.path.realpath(root)

    def leads_out(here: str, name: str) -> bool:
        target = Path(os.path.realpath(Path(here, name)))
        is_within = target.is_relative_to(real) and target.exists()
        return not is_within or Path(os.path.realpath(here)).is_relative_to(target)

    return lambda here, names: {name for name in names if leads_out(here, name)}


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


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
    place = out if Path.cwd() == ROOT else folder
    check, present = (deck_command(script, talk=place) for script in ("check", "present"))
    npm = shutil.which("npm")
    if ROOT is None or npm is None:
        talk = f"REPLAY_TALK={shlex.quote(str(place))}"
        fix = deck_command("check", "--fix", talk=place) or f"{talk} npm run check -- --fix"
        print("The slides have a ? for each figure. The deck of a checkout of Replay, which needs npm, writes them:")
        print(f"next: {fix}\n      {present or f'{talk} npm run present'}")
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


def _title(plan: Plan) -> str:
    """Return the question that the talk asks, if nobody gave it one."""
    labels = [variant.label for variant in plan.told.variants]
    if len(labels) == 1:
        return f"What does {plan.manifest['label']} do?"
    if (noun := noun_of(plan.told)) != VARIANT:
        return f"Which {noun}?"
    return f"{', '.join(labels[:-1])} or {labels[-1]}?"


def _summary(plan: Plan) -> str:
    sense, settled = plan.sense, sum(finding.is_settled for finding in plan.findings)
    runs = plan.told.runs_each
    parts = [f"n = {runs}: {settled} of {len(plan.findings)} comparisons settled"]
    if not plan.findings:
        parts = [f"n = {runs}: nothing is compared"]
    elif sense.runs > 1:
        parts.append(f"the runs are {'' if sense.neighbours else 'no '}neighbours in time")
    parts += [f"{sense.first.label} always ran first"] if sense.first else []
    parts += [f"{sense.seconds:.3g} s a run"] if sense.seconds else []
    return "; ".join(parts)


def talk_yaml(title: str, plan: Plan, slides: Sequence[Slide]) -> str:
    """Return the talk's talk.yaml."""
    seconds = sum(slide.seconds for slide in slides if not slide.in_appendix)
    claims = {finding.ratio.claim: None for finding in plan.findings} | {walk.claim: None for walk, _ in plan.walks}
    return _TALK + _yaml(
        {
            "title": title,
            "description": f"Charts and figures of the data set {plan.manifest['label']}.",
            "speaker": "",
            "event": "",
            "date": "",
            "contact": "",
            "repository": "",
            "data_set": plan.told.data_set,
            "claims": [*claims],
            "cuts": [{"minutes": math.ceil(seconds / 60)}],
            "chapters": [Path(CHAPTER).name],
            "accent": {"light": "#005f99", "dark": "#7cc4f5"},
            "series": _series(plan),
        }
    )


def _series(plan: Plan) -> dict[str, list[str]]:
    """Return the looks of what is drawn, the same in every chart: reads are circles, writes are squares."""
    looks = {"reference": [variant.label for variant in plan.told.variants[:1]],
             "accent": [variant.label for variant in plan.told.variants[1:2]], "indigo": [], "petrol": []}  # fmt: skip
    for finding in plan.findings:
        look = looks["petrol" if "writes" in finding.ratio.point.kind else "indigo"]
        if finding.ratio.label not in look:
            look.append(finding.ratio.label)
    return {look: names for look, names in looks.items() if names}


def _yaml(document: Mapping[str, Any]) -> str:
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
