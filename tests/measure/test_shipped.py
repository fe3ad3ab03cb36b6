"""Measuring into a data set that ships needs somebody's word; into any other one it does not."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from replay.base.errors import ConfigurationError
from replay.measure.command import require_consent, why_it_ships
from support.patience import patient


class Terminal(io.StringIO):
    """What a person types, or reads."""

    def isatty(self):
        return True


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of a project without git: a talk of one slide, and the data sets `tracked`, `lead`, `drawn` and `mine`."""
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    for name in ("tracked", "lead", "drawn", "mine"):
        (tmp_path / "benchmarks" / name).mkdir(parents=True)
        (tmp_path / "benchmarks" / name / "campaign.json").write_text("{}")
    (tmp_path / "slides/talk").mkdir(parents=True)
    (tmp_path / "slides/talk/a.md").write_text('<canvas data-chart-src="benchmarks/drawn/e/aggregate/a.csv"></canvas>')
    (tmp_path / "slides/talk/talk.yaml").write_text("title: A talk\ndata_set: lead  # measured here\n")
    return tmp_path


@pytest.fixture
def project(copied):
    """The same with git, which tracks `tracked`."""
    for words in (["init", "-q"], ["add", "benchmarks/tracked"]):
        subprocess.run(["git", *words], cwd=copied, check=True, timeout=patient(60))
    return copied


def test_a_data_set_ships_if_git_tracks_it_and_one_that_only_a_slide_names_does_not(project):
    assert why_it_ships("tracked", project) == "git tracks its files"
    for own in ("lead", "drawn", "mine", "new"):
        assert why_it_ships(own, project) is None


def test_in_a_copy_without_git_it_ships_if_a_talk_names_it(copied):
    assert why_it_ships("lead", copied) == "slides/talk/talk.yaml names it"
    assert why_it_ships("drawn", copied) == "slides/talk/a.md names it"
    for own in ("tracked", "mine", "new"):
        assert why_it_ships(own, copied) is None
    assert why_it_ships("lead", None) is None, "an installed Replay has no data that ship"


def test_without_a_terminal_it_is_refused_with_the_way_to_agree(project, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("tracked\n"))
    with pytest.raises(ConfigurationError, match="tracked ships with the talk: git tracks its files") as caught:
        require_consent("tracked", given=False)
    assert "--into-shipped" in str(caught.value)
    assert "--data" in str(caught.value)
    require_consent("tracked", given=True)
    require_consent("mine", given=False)


@pytest.mark.parametrize(("typed", "agreed"), [("tracked\n", True), ("yes\n", False), ("\n", False), ("", False)])
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
