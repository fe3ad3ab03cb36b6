from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from replay.base.errors import EvidenceError
from replay.base.paths import ROOT
from replay.base.releases import older_releases
from replay.base.tables import number_text, write_if_changed
from replay.derive.experiment import derive_experiment
from replay.cli.derive_command import main
from replay.claims.workflow.dataset import derive_data_set
from replay.claims.workflow.notes import ANSWER_NOTE, CLAIMS_NOTE, DESCRIPTION_NOTE
from replay.claims.workflow.watch import Watcher
from support.patience import patient, wait_until
from support.rawtree import RawTree

#: The watching process takes only CPU time that nobody else wants; a busy machine may have little.
SECONDS = 90


@pytest.fixture
def benchmarks(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    return tmp_path


def attempts_in(manifest):
    return json.loads(manifest.read_text())["experiments"]["rbd-journaling"]["attempts"]


def test_the_command_reports_its_result_and_deriving_again_changes_nothing(benchmarks, capsys):
    RawTree(benchmarks / "demo" / "rbd-journaling").measure()
    RawTree(benchmarks / "demo" / "other").measure()
    assert main(["--data", "demo"]) == 0
    assert "rbd-journaling: 12 cells, 27 files changed" in capsys.readouterr().out
    assert main(["--data", "demo"]) == 0
    assert "2 experiments), nothing to derive" in capsys.readouterr().out


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit) as raised:
        main(["--help"])
    text = capsys.readouterr().out
    assert raised.value.code == 0
    assert all(option in text for option in ("--data", "--experiment", "--watch", "SHA256SUMS"))


def test_an_altered_file_ends_with_status_3_and_names_the_file_without_a_traceback(benchmarks, capsys):
    tree = RawTree(benchmarks / "demo" / "rbd-journaling", sealed=False).measure()
    path = tree.path("block-01/read-seq-4096/attempt-1/control.stdout")
    path.write_text("")
    assert main(["--data", "demo"]) == 3
    said = capsys.readouterr().err
    assert str(path) in said
    assert "Traceback" not in said


@pytest.mark.parametrize("arguments", [["--data", "none"], ["--data", "demo", "--experiment", "none"]])
def test_an_unknown_name_is_reported_in_a_sentence(benchmarks, capsys, arguments):
    RawTree(benchmarks / "demo" / "rbd-journaling").measure()
    assert main(arguments) == 3
    assert "next: " in capsys.readouterr().err


def test_a_look_derives_what_changed_and_nothing_else(benchmarks):
    tree = RawTree(benchmarks / "demo" / "rbd-journaling")
    RawTree(benchmarks / "demo" / "other").measure()
    watcher = Watcher(benchmarks / "demo", (), pytest.fail)
    assert [one.name for one in watcher.look()] == ["other", "rbd-journaling"]
    assert watcher.look() == []
    tree.attempt(1, "write-seq-4096")
    assert [(one.name, one.cells) for one in watcher.look()] == [("rbd-journaling", 3)]
    assert attempts_in(benchmarks / "demo" / "manifest.json") == 1


def test_a_look_reads_only_new_files(benchmarks):
    tree = RawTree(benchmarks / "demo" / "rbd-journaling", sealed=False).measure(blocks=2)
    watcher = Watcher(benchmarks / "demo", (), pytest.fail)
    watcher.look()
    # Evidence never changes, so what was read is not read again: a change goes unseen until the next full derive.
    tree.path("block-01/write-seq-4096/attempt-1/control.stdout").write_text("")
    tree.attempt(3, "write-seq-4096")
    assert watcher.look()[0].cells == 27
    with pytest.raises(EvidenceError):
        derive_experiment(tree.directory)


def test_a_look_reports_an_error_once_and_continues_when_it_is_corrected(benchmarks):
    tree = RawTree(benchmarks / "demo" / "rbd-journaling").measure()
    told = []
    watcher = Watcher(benchmarks / "demo", (), told.append)
    extra = tree.attempt(2, "write-seq-4096") / "extra"
    extra.write_text("")
    assert (watcher.look(), watcher.look()) == ([], [])
    assert len(told) == 1
    assert f"{extra}: not listed" in told[0]
    extra.unlink()
    tree.attempt(3, "write-seq-4096")
    assert watcher.look()[0].cells == 18


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["standard input closes", "SIGTERM"])
def test_watching_follows_a_measurement_at_the_lowest_priority_until(benchmarks, ending):
    tree = RawTree(benchmarks / "demo" / "rbd-journaling")
    manifest = benchmarks / "demo" / "manifest.json"
    command = [sys.executable, "-m", "replay", "derive", "--data", "demo", "--watch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            wait_until(manifest.exists, "a manifest", seconds=SECONDS)
            assert os.sched_getscheduler(process.pid) == os.SCHED_IDLE
            assert os.getpriority(os.PRIO_PROCESS, process.pid) == 19
            tree.attempt(1, "write-seq-4096")
            wait_until(lambda: attempts_in(manifest) == 1, "the first attempt", seconds=SECONDS)
            if ending == "SIGTERM":
                process.send_signal(signal.SIGTERM)
            else:
                tree.attempt(1, "write-seq-65536")
                process.stdin.close()
            assert process.wait(timeout=patient(SECONDS)) == 0
        finally:
            process.kill()
    assert attempts_in(manifest) == (1 if ending == "SIGTERM" else 2)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1073741824, "1073741824"),
        (30658995.654321, "30658995.7"),
        (1264674746.31, "1264674750"),
        (0.000000123456789123, "0.000000123456789"),
        (4096.0, "4096"),
        (1 / 3, "0.333333333"),
        (-0.5, "-0.5"),
        (True, "1"),
        (None, ""),
        (float("nan"), ""),
    ],
)
def test_numbers_have_nine_significant_digits_and_no_exponent(value, text):
    assert number_text(value) == text


def test_a_file_is_replaced_whole_and_only_when_it_changes(tmp_path):
    path = tmp_path / "folder" / "x.csv"
    assert write_if_changed(path, "a\n")
    inode = path.stat().st_ino
    assert not write_if_changed(path, "a\n")
    assert path.stat().st_ino == inode
    assert write_if_changed(path, "b\n")
    assert [one.name for one in path.parent.iterdir()] == ["x.csv"]


def derived_files(data_set):
    """Return the content of every derived file by its path."""
    paths = [*data_set.glob("*.json"), *data_set.glob("*.csv"), *data_set.glob("*/tidy.csv")]
    for pattern in ("*/registered.csv", "*/aggregate/*.csv"):
        paths += data_set.glob(pattern)
    notes = (ANSWER_NOTE, CLAIMS_NOTE, DESCRIPTION_NOTE)  # of a checkout, which git ignores
    return {path.relative_to(data_set).as_posix(): path.read_bytes() for path in paths if path.name not in notes}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.parent.name for path in (ROOT / "benchmarks").glob("*/manifest.json")))
def test_every_shipped_table_comes_from_the_shipped_raw_output(name, tmp_path):
    original, copy = ROOT / "benchmarks" / name, tmp_path / name
    for raw in original.glob("*/raw"):
        (copy / raw.parent.name).mkdir(parents=True)
        (copy / raw.parent.name / "raw").symlink_to(raw)
    shutil.copy(original / "campaign.json", copy)
    for older in older_releases(original):  # releases.json compares with them
        (tmp_path / older.name).symlink_to(older)
    derive_data_set(copy)
    shipped, made = derived_files(original), derived_files(copy)
    assert shipped.keys() == made.keys()
    differing = [name for name, content in shipped.items() if made[name] != content]
    assert differing == [], f"./replay derive --data {name}"
