"""Starts talks from results of other people, reads their slides, and has the deck check them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from replay.base.paths import ROOT
from replay.cli.main import main
from support.patience import patient


def told(tmp_path: Path, *folders: Path, words: Iterable[str] = ()) -> dict[str, str]:
    """Import the folders and start a talk; return its slides by their ids, with `{value}` for each figure."""
    assert main(["import", *map(str, folders), "--data", "mine"]) == 0
    assert main(["talk", "mine", "--out", str(tmp_path / "talk"), *words]) == 0
    text = (tmp_path / "talk" / "slides" / "talk" / "talk.md").read_text()
    text = re.sub(r'<data value="([^"]*)">\?</data>', r"{\1}", text)
    return {re.match(r'<!-- .slide: id="([^"]+)"', slide)[1]: slide for slide in text.rstrip().split("\n\n\n")}


def title(slide: str) -> str:
    """Return what a title finds, without markup; its variants by number, other values by their last two names."""
    found = re.search(r"^## (.*)$", slide, re.MULTILINE)[1].replace("<br>", " ").split('<span class="question">')[0]
    found = re.sub(r"\{manifest\.[^}]*\.variants\.(\d)\.label\}", r"[\1]", re.sub(r"<[^>]*>", "", found))
    return re.sub(r"\{[^}]*?([^.}]*\.[^.}]*)\}", r"{\1}", found)


def checked(talk: Path) -> str:
    """Run `npm run check` on the talk, which must find nothing; return what it printed."""
    done = _check(talk, {key: value for key, value in os.environ.items() if key != "REPLAY_BENCHMARKS"})
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def check_talk(talk: Path, *options: str) -> tuple[int, str]:
    """Run `npm run check` on the talk; return its exit status and what it printed."""
    done = _check(talk, os.environ, *options)
    return done.returncode, done.stdout + done.stderr


def _check(talk: Path, environment: Mapping[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["node", "scripts/check.mjs", "--no-layout", *options],
        cwd=ROOT, env={**environment, "REPLAY_TALK": str(talk)}, capture_output=True, text=True, timeout=patient(60),
    )  # fmt: skip
