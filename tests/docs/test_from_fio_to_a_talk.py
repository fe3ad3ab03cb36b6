"""docs/from-fio-to-a-talk.md, step by step: from a folder of fio results to a report and five slides."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tarfile

import pytest

from replay.base.paths import ROOT
from replay.cli.main import main

PAGE = (ROOT / "docs" / "from-fio-to-a-talk.md").read_text()
COMMANDS = [shlex.split(line) for line in re.findall(r"^    (?:\./replay|tar|REPLAY_TALK=\S+) .*$", PAGE, re.MULTILINE)]
UNDERSTOOD = re.search(r"^(    imported-fio: .*\n(?:      .*\n)+)", PAGE, re.MULTILINE)[1]


@pytest.mark.slow
def test_the_steps_lead_from_a_folder_of_results_to_a_report_and_a_talk(tmp_path, monkeypatch, capsys):
    tar, *steps, check, present = COMMANDS
    assert [step[:2] for step in steps] == [["./replay", name] for name in ("import", "compare", "talk")]
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

    report = (tmp_path / "engines.html").read_text()
    assert report.startswith("<!doctype html>") and "<script" not in report

    assert check[1:] == ["npm", "run", "check"] and present[1:] == ["npm", "run", "present"]
    talk = tmp_path / check[0].removeprefix("REPLAY_TALK=")
    monkeypatch.delenv("REPLAY_BENCHMARKS")
    environment = {**os.environ, "REPLAY_TALK": str(talk)}
    done = subprocess.run(
        ["node", "scripts/check.mjs"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"slides/talk\.md +5 slides", done.stdout)
