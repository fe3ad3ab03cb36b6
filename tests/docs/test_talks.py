"""The pages that lead to a talk of one's own, step by step as far as no cluster is needed: what they print is right.

docs/from-fio-to-a-talk.md goes from a folder of fio results to a report and slides, docs/my-experiment.md from YAML to
a slide.
"""

from __future__ import annotations

import csv
import re
import shlex
import tarfile

import pytest

from replay.base.paths import ROOT
from replay.claims.data_set import derive_data_set
from replay.cli.main import main
from replay.design.configuration import load_experiment
from replay.design.expansion import expand, narrowed
from support.commands import run_derive
from support.scripted_rbd import ScriptedRbd
from support.talks import check_talk

FIO_PAGE = (ROOT / "docs" / "from-fio-to-a-talk.md").read_text()
COMMANDS = [
    shlex.split(line) for line in re.findall(r"^    (?:\./replay|tar|REPLAY_TALK=\S+) .*$", FIO_PAGE, re.MULTILINE)
]
UNDERSTOOD = re.search(r"^(    imported-fio: .*\n(?:      .*\n)+)", FIO_PAGE, re.MULTILINE)[1]

TITLES = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", FIO_PAGE, re.MULTILINE))

NAME = "write-size"
PAGE = (ROOT / "docs" / "my-experiment.md").read_text()
EXPERIMENT, CLAIMS, TALK = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
(SLIDE,) = re.findall(r"```markdown\n(.*?)```", PAGE, re.DOTALL)
#: Both variants are equally fast with the scripted `rbd`.
ESTIMATE = "1.0\N{MULTIPLICATION SIGN}"
FILES = {
    f"config/experiments/{NAME}.yaml": EXPERIMENT,
    "config/claims.yaml": CLAIMS,
    "slides/price/talk.yaml": TALK,
    "slides/price/price.md": SLIDE,
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


def measured_sizes(talk):
    with (talk / "benchmarks" / "mine" / NAME / "tidy.csv").open() as table:
        return {int(row["io_size_bytes"]) for row in csv.DictReader(table)}


@pytest.mark.slow
def test_the_steps_lead_from_an_experiment_to_a_slide_without_a_problem(talk, monkeypatch):
    rbd = ScriptedRbd(talk, monkeypatch)
    design = expand(load_experiment(NAME), "quick")
    raw = talk / "benchmarks" / "mine" / NAME / "raw"

    (only,) = re.findall(r"--only (\S+)", PAGE)
    for block in range(1, design.blocks + 1):
        rbd.measure(narrowed(design, [only]), block, raw)
    derive_data_set(raw.parents[1])
    assert measured_sizes(talk) == {98304}

    alone = {path.name for path in raw.glob("block-*.tar.gz")}
    for block in range(1, design.blocks + 1):
        rbd.measure(design, block, raw)
    assert {path.name for path in raw.glob("block-*.tar.gz")} > alone, "what was measured stays as it is"
    assert len([*raw.glob("design-*.json")]) == 1, "a level alone is part of the same design"
    assert run_derive(["--data", "mine"]) == 0
    assert measured_sizes(talk) == {4096, 65536, 98304}

    status, said = check_talk(talk)
    assert status == 1
    assert said.count(f'says "?", but the data of "mine" say "{ESTIMATE}"') == 2
    status, said = check_talk(talk, "--fix")  # which reads and checks the talk again
    assert (status, "slides/price/price.md: 2 texts updated." in said) == (0, True), said
    assert "The talk takes 0:45." in said
    assert f">{ESTIMATE}<" in (talk / "slides" / "price" / "price.md").read_text()


@pytest.mark.slow
def test_the_steps_lead_from_a_folder_of_results_to_a_report_and_a_talk(tmp_path, monkeypatch, capsys):
    tar, *steps, checking, present = COMMANDS
    assert [step[:2] for step in steps] == [["./replay", name] for name in ("import", "report", "compare", "talk")]
    with tarfile.open(ROOT / tar[2]) as packed:
        packed.extractall(tmp_path, filter="data")
    (tmp_path / "benchmarks").mkdir()
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    monkeypatch.chdir(tmp_path)
    printed = ""
    for _, *words in steps:
        assert main(words) == 0
        printed += capsys.readouterr().out
    assert re.sub(r"^    ", "", UNDERSTOOD, flags=re.MULTILINE) in printed
    (summary,) = re.findall(r"^    (n = .*)$", FIO_PAGE, re.MULTILINE)
    assert summary in printed

    for page in ("engines.html", "ratios.html"):
        text = (tmp_path / page).read_text()
        assert text.startswith("<!doctype html>") and "<script" not in text

    assert checking[1:] == ["npm", "run", "check"] and present[1:] == ["npm", "run", "present"]
    talk = tmp_path / checking[0].removeprefix("REPLAY_TALK=")
    monkeypatch.delenv("REPLAY_BENCHMARKS")
    status, said = check_talk(talk)
    assert status == 0, said
    assert re.search(r"slides/talk/talk\.md +9 slides", said)
    text = (talk / "slides" / "talk" / "talk.md").read_text()
    written = dict(re.findall(r'^<!-- \.slide: id="(\w+)"[^\n]*-->\n## ([^\n]*)$', text, re.MULTILINE))
    findings = {name: title.split('<span class="question">')[0].replace("<br>", " ") for name, title in written.items()}
    titles = {name: re.sub(r"<[^>]*>", "", finding) for name, finding in findings.items()}
    assert TITLES.pop("question") == steps[-1][-1]
    assert {name: titles[name] for name in TITLES} == TITLES
