"""A first project, and how Replay finds the project in which it works."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.base import paths
from replay.base.errors import ConfigurationError
from replay.cli.main import main
from replay.cli.starting_commands import write_project
from replay.design.configuration import load_experiment


def test_a_new_project_has_a_site_and_an_experiment_that_are_valid(tmp_path, monkeypatch, capsys):
    assert main(["init", str(tmp_path / "mine")]) == 0
    said = capsys.readouterr().out
    assert f"cd {tmp_path / 'mine'}" in said
    assert "measure --site sandbox" in said
    monkeypatch.chdir(tmp_path / "mine")
    assert paths.project_directory() == tmp_path / "mine"
    assert load_experiment("rbd-journaling")["name"] == "rbd-journaling"
    assert sorted(path.stem for path in (tmp_path / "mine" / "config" / "sites").iterdir()) == ["example", "sandbox"]


def test_existing_files_are_never_overwritten_and_then_nothing_is_written(tmp_path, capsys):
    site = tmp_path / "config" / "sites" / "sandbox.yaml"
    site.parent.mkdir(parents=True)
    site.write_text("mine")
    assert main(["init", str(tmp_path)]) == 2
    assert "config/sites/sandbox.yaml" in capsys.readouterr().err
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [site]
    assert site.read_text() == "mine"


def test_a_link_that_leads_nowhere_is_not_written_through(tmp_path):
    (tmp_path / "config" / "sites").mkdir(parents=True)
    (tmp_path / "config" / "sites" / "example.yaml").symlink_to(tmp_path / "gone")
    with pytest.raises(ConfigurationError, match="overwrite"):
        write_project(tmp_path)
    assert not (tmp_path / "gone").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match=str(tmp_path / "file")):
        write_project(tmp_path / "file" / "below")


def test_the_project_is_the_nearest_folder_above_that_has_sites_else_the_checkout(tmp_path, monkeypatch):
    write_project(tmp_path / "mine")
    (tmp_path / "mine" / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "mine" / "deep" / "er")
    assert paths.project_directory() == tmp_path / "mine"
    monkeypatch.chdir(tmp_path)
    assert paths.project_directory() == paths.ROOT


def test_a_folder_above_that_one_may_not_look_into_is_passed_over(tmp_path, monkeypatch):
    write_project(tmp_path)
    below = tmp_path / "theirs" / "below"
    below.mkdir(parents=True)
    is_dir = Path.is_dir

    def denied(path):
        # What Python before 3.14 raises; root, as whom these tests may run, is denied nothing.
        if path.is_relative_to(tmp_path / "theirs"):
            raise PermissionError(13, "Permission denied", str(path))
        return is_dir(path)

    monkeypatch.chdir(below)
    monkeypatch.setattr(Path, "is_dir", denied)
    assert paths.project_directory() == tmp_path


def test_without_checkout_and_project_the_next_step_is_to_make_a_project(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "ROOT", None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="replay init"):
        paths.project_directory()
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "elsewhere"))
    assert paths.benchmarks_directory() == tmp_path / "elsewhere"


def test_a_printed_command_can_be_typed_as_it_is(monkeypatch):
    monkeypatch.delenv("REPLAY_CALLED_AS", raising=False)
    assert paths.replay_command("clean", "--site", "my site") == "./replay clean --site 'my site'"
    monkeypatch.setenv("REPLAY_CALLED_AS", "../replay")
    assert paths.replay_command("derive") == "../replay derive"
    assert paths.deck_command("present", "--data", "x") == "npm run present -- --data x"
    monkeypatch.delenv("REPLAY_CALLED_AS")
    monkeypatch.setattr(paths, "ROOT", None)
    assert paths.replay_command("derive") == "replay derive"
    assert paths.deck_command("present") is None


def test_a_command_of_the_deck_works_where_it_is_printed(tmp_path, monkeypatch):
    """In the checkout, in a project, in a talk's folder."""
    monkeypatch.delenv("REPLAY_BENCHMARKS", raising=False)
    monkeypatch.chdir(paths.ROOT / "docs")
    assert paths.deck_command("check") == "npm run check"
    write_project(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine" / "config")
    npm = f"npm --prefix {paths.ROOT} run present -- --data x"
    assert paths.deck_command("present", "--data", "x") == f"REPLAY_BENCHMARKS={tmp_path}/mine/benchmarks {npm}"
    (tmp_path / "mine" / "slides" / "talk").mkdir(parents=True)
    (tmp_path / "mine" / "slides" / "talk" / "talk.yaml").touch()
    assert paths.deck_command("present", "--data", "x") == f"REPLAY_TALK={tmp_path}/mine {npm}"
    monkeypatch.chdir(tmp_path)
    assert paths.deck_command("present", "--data", "x") == npm, "the checkout's talk, from anywhere"
    monkeypatch.chdir(paths.ROOT)
    assert paths.deck_command("check", talk=Path("my talk")) == "REPLAY_TALK='my talk' npm run check"


def test_every_schema_and_the_workflow_come_with_the_package():
    """In a checkout there are links between them and the files that people edit, so that a wheel holds the same."""
    schemas = paths.ROOT / "config/schemas"
    assert schemas.resolve() == paths.program_file("schemas")
    assert all(one.is_file() and not one.is_symlink() for one in schemas.iterdir())
    links = [path for path in paths.program_file().rglob("*") if path.is_symlink()]
    workflow = ["Snakefile", *(f"workflow/profiles/{name}/config.yaml" for name in ("default", "slurm"))]
    workflow += [path.relative_to(paths.ROOT).as_posix() for path in (paths.ROOT / "workflow/scripts").glob("*.py")]
    for name in workflow:
        assert paths.program_file(name).resolve() == paths.ROOT / name
    assert all(link.is_file() for link in links), "a wheel has files in the place of links, and only of links to files"
    assert all(link.is_file() for link in paths.program_file("templates").rglob("*") if not link.is_dir())
