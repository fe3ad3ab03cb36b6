"""docs/your-own-talk.md, step by step as far as no cluster is needed: from YAML to a slide that is right."""

from __future__ import annotations

import csv
import os
import re
import subprocess

import pytest

from replay.base.paths import ROOT
from replay.config.experiments import load_experiment
from replay.design.expansion import expand
from replay.design.selection import narrowed
from replay.workflow.command import main as derive
from support.scripted_rbd import ScriptedRbd

NAME = "write-size"
PAGE = (ROOT / "docs" / "your-own-talk.md").read_text()
EXPERIMENT, CLAIMS, TALK = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
(SLIDE,) = re.findall(r"```markdown\n(.*?)```", PAGE, re.DOTALL)
#: Both variants are equally fast with the scripted `rbd`.
ESTIMATE = "1.0\N{MULTIPLICATION SIGN}"
FILES = {
    f"config/experiments/{NAME}.yaml": EXPERIMENT,
    "config/claims.yaml": CLAIMS,
    "config/talk.yaml": TALK,
    "slides/price.md": SLIDE,
}


@pytest.fixture
def talk(tmp_path, monkeypatch):
    """The files of the page, under the names that it gives them."""
    for name, text in FILES.items():
        assert f"`{name}`" in PAGE, "the page says where to save it"
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("REPLAY_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    return tmp_path


def check(talk, *options):
    """Run `npm run check` on the talk; return its exit status and what it printed."""
    done = subprocess.run(
        ["node", "scripts/check.mjs", *options],
        cwd=ROOT, env={**os.environ, "REPLAY_TALK": str(talk)}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def measured_sizes(talk):
    with (talk / "benchmarks" / "mine" / NAME / "tidy.csv").open() as table:
        return {int(row["io_size_bytes"]) for row in csv.DictReader(table)}


def test_the_steps_lead_from_an_experiment_to_a_slide_without_a_problem(talk, monkeypatch):
    rbd = ScriptedRbd(talk, monkeypatch)
    design = expand(load_experiment(NAME), "quick")
    raw = talk / "benchmarks" / "mine" / NAME / "raw"

    (only,) = re.findall(r"--only (\S+)", PAGE)
    for block in range(1, design.blocks + 1):
        rbd.measure(narrowed(design, [only]), block, raw)
    assert derive(["--data", "mine"]) == 0
    assert measured_sizes(talk) == {98304}

    alone = {path.name for path in raw.glob("block-*.tar.gz")}
    for block in range(1, design.blocks + 1):
        rbd.measure(design, block, raw)
    assert {path.name for path in raw.glob("block-*.tar.gz")} > alone, "what was measured stays as it is"
    assert len([*raw.glob("design-*.json")]) == 1, "a level alone is part of the same design"
    assert derive(["--data", "mine"]) == 0
    assert measured_sizes(talk) == {4096, 65536, 98304}

    status, said = check(talk)
    assert status == 1
    assert said.count(f'says "?", but the data of "mine" say "{ESTIMATE}"') == 2
    status, said = check(talk, "--fix")
    assert (status, "slides/price.md: 2 texts updated." in said) == (0, True), said
    status, said = check(talk)
    assert (status, "The talk takes 0:45." in said) == (0, True), said
    assert f">{ESTIMATE}<" in (talk / "slides" / "price.md").read_text()
