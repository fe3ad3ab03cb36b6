"""Measuring into a data set that ships needs somebody's word; into any other one it does not."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from replay.base.errors import ConfigurationError
from replay.measure import command
from replay.measure.command import require_consent, why_it_ships
from support.patience import patient


class Terminal(io.StringIO):
    """What a person types, or reads."""

    def isatty(self):
        return True


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with git, a slide, and the data sets `tracked` and `mine`."""
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    for name in ("tracked", "mine"):
        (tmp_path / "benchmarks" / name).mkdir(parents=True)
        (tmp_path / "benchmarks" / name / "campaign.json").write_text("{}")
    (tmp_path / "slides/talk").mkdir(parents=True)
    (tmp_path / "slides/talk/a.md").write_text('<canvas data-chart-src="benchmarks/drawn/e/aggregate/a.csv"></canvas>')
    (tmp_path / "slides/talk/talk.yaml").write_text("title: A talk\ndata_set: lead  # measured here\n")
    for words in (["init", "-q"], ["add", "benchmarks/tracked"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, timeout=patient(60))
    return tmp_path


def test_a_data_set_ships_if_git_tracks_it_or_the_talk_names_it(project):
    assert why_it_ships("tracked", project) == "git tracks its files"
    assert why_it_ships("lead", project) == "slides/talk/talk.yaml names it"
    assert why_it_ships("drawn", project) == "slides/talk/a.md names it"
    assert why_it_ships("mine", project) is None
    assert why_it_ships("draw", project) is None
    assert why_it_ships("new", project) is None


def test_without_a_terminal_it_is_refused_with_the_way_to_agree(project, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("tracked\n"))
    with pytest.raises(ConfigurationError, match="tracked ships with the talk: git tracks its files") as caught:
        require_consent("tracked", given=False)
    assert "--into-shipped" in str(caught.value)
    assert "--data" in str(caught.value)
    require_consent("tracked", given=True)
    require_consent("mine", given=False)


@pytest.mark.parametrize(("typed", "agreed"), [("tracked\n", True), ("yes\n", False), ("\n", False)])
def test_in_a_terminal_its_name_has_to_be_typed(project, monkeypatch, typed, agreed):
    said = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr(sys, "stdout", said)
    if agreed:
        require_consent("tracked", given=False)
    else:
        with pytest.raises(ConfigurationError, match="nothing was measured"):
            require_consent("tracked", given=False)
    assert "tracked ships with the talk" in said.getvalue()


def test_an_installed_replay_looks_for_the_talk_in_the_project(tmp_path, monkeypatch):
    (tmp_path / "config" / "sites").mkdir(parents=True)
    (tmp_path / "slides/talk").mkdir(parents=True)
    (tmp_path / "slides/talk/talk.yaml").write_text("data_set: lead\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "ROOT", None)
    assert why_it_ships("lead") == "slides/talk/talk.yaml names it"
    assert why_it_ships("mine") is None
