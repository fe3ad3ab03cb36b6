"""The pipeline on a real cluster: it resumes after anything, measures nothing twice, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess

import pytest

from replay.evidence.durable import SUMS
from support.patience import patient, wait_until
from support.programs import freeze, kill_together
from support.tiny import Bench

pytestmark = pytest.mark.sandbox
one_campaign = pytest.mark.xdist_group("one campaign")


def tools(bench):
    """Pids of benchmark tools that run in this campaign."""
    return [
        pid
        for program in ("rbd", "rados", "fio")
        for pid in bench.processes(f"{program} ", str(bench.sandbox_directory))
    ]


def sealed(bench):
    return [json.loads(content) for name, content in sorted(bench.files().items()) if name.endswith("/attempt.json")]


def valid_points(bench):
    return sorted((seal["block"], seal["point"]) for seal in sealed(bench) if seal["valid"])


def verified(bench):
    done = subprocess.run(["sha256sum", "--check", "--quiet", SUMS], cwd=bench.tiny, capture_output=True, check=False)
    return done.returncode == 0


@pytest.fixture(scope="module")
def measured_once(sandbox_directory, tmp_path_factory, snakemakes):
    """A completely measured campaign, from which tests continue."""
    made = Bench(tmp_path_factory.mktemp("measured"), sandbox_directory, snakemakes=snakemakes)
    made.write_config()
    done = made.measure("tiny")
    assert done.returncode == 0, done.stdout + done.stderr
    return made


@pytest.fixture
def measured(bench, measured_once):
    """A copy of it for one test."""
    shutil.copytree(measured_once.folder, bench.folder, dirs_exist_ok=True)
    return bench


@one_campaign
def test_a_campaign_is_measured_derived_and_described(measured):
    assert valid_points(measured) == [(1, "write-rand-4096"), (1, "write-rand-65536")]
    assert verified(measured)
    data = measured.tiny.parent
    table = (data / "aggregate" / "throughput-write-rand.csv").read_text().splitlines()
    assert table[0] == "I/O size,4096,65536"
    assert [row.split(",")[0] for row in table[1:]] == ["Without journal", "With journal"]
    files = measured.files()
    sidecar = json.loads(files["block-01/write-rand-4096/attempt-1/with-journal.json"])
    drawn = float(table[2].split(",")[1])
    text = files["block-01/write-rand-4096/attempt-1/with-journal.stdout"].decode()
    said = float(text.split("ops/sec: ")[1].split()[0])
    assert drawn == pytest.approx(said * 4096, rel=1e-6), "what is drawn is what the tool said"
    assert sidecar["health"]["before"]["status"].startswith("HEALTH_")
    for word in (str(measured.sandbox_directory), os.uname().nodename, "127.0.0.1", "AQ"):
        assert word not in json.dumps(sidecar), "no path, host, address or key in a sidecar"


@one_campaign
def test_only_the_sets_of_an_added_size_are_measured_and_nothing_twice(measured):
    before = measured.files()
    measured.design["scales"]["smoke"]["factors"]["io_size_bytes"].append(16384)
    measured.write_config()
    more = measured.measure("tiny")
    assert more.returncode == 0, more.stderr
    after = measured.files()
    assert {name: after[name] for name in before} == before
    new_sets = {name.split("/")[1] for name in after.keys() - before.keys() if name.startswith("block-01/write")}
    assert new_sets == {"write-rand-16384"}
    assert verified(measured)

    measured.design["title"] = "Another title, another comment"
    measured.write_config()
    for name in ("config/experiments/tiny.yaml", "config/sites/sandbox.yaml"):
        (measured.folder / name).touch()
    again = measured.measure("tiny")
    assert again.returncode == 0, again.stderr
    assert measured.files() == after


@pytest.mark.slow
def test_a_campaign_continues_after_interruptions_and_after_a_kill_of_any_process(bench):
    bench.design["scales"]["smoke"]["factors"]["io_size_bytes"] = [4096, 16384, 65536]
    bench.write_config()

    def making_images():
        return tools(bench)

    def in_a_cell():
        return bench.processes("rbd ", " bench ", " rand ")

    kept = interrupt(bench, signal.SIGINT, lambda: len(valid_points(bench)) == 1)
    kept |= interrupt(bench, signal.SIGTERM, in_a_cell)
    kept |= kill(bench, "everything", making_images, lambda process: freeze(process.pid))
    kept |= kill(bench, "Snakemake", making_images, lambda process: bench.processes("-m snakemake"))
    kept |= kill(bench, "the block", in_a_cell, lambda process: [bench.runner("tiny")])
    kept |= kill(bench, "replay measure", in_a_cell, lambda process: [process.pid])
    assert len(valid_points(bench)) < 3, "Snakemake and its block end with what started them"

    last = bench.measure("tiny")
    assert last.returncode == 0, last.stdout + last.stderr
    assert valid_points(bench) == [(1, "write-rand-16384"), (1, "write-rand-4096"), (1, "write-rand-65536")]
    assert_kept(bench, kept)
    assert not list(bench.tiny.glob("*.open")), "a block that is whole is one pack"
    assert verified(bench)
    assert tools(bench) == []


def interrupt(bench, number, moment):
    """Start, interrupt at the moment, and return what must stay: every file of an attempt."""
    process = started(bench, moment)
    process.send_signal(number)
    said, _ = process.communicate(timeout=patient(60))
    assert process.returncode == 130, said
    assert tools(bench) == []
    assert bench.images() == {"left": [], "right": []}, said
    return {name: content for name, content in bench.files().items() if "attempt-1/" in name}


def kill(bench, name, moment, victims):
    """Start, kill without warning at the moment, and return what must stay: every file."""
    process = started(bench, moment)
    killed = victims(process)
    assert killed, f"{name} is not found, and this test proves nothing"
    kill_together(killed)
    process.wait(timeout=patient(90))
    wait_until(lambda: not bench.measuring(), "the end of what is left of the run", seconds=60)
    return bench.files()


def started(bench, moment):
    process = bench.start("tiny")

    def met():
        assert process.poll() is None, f"the run ended before the test could stop it: {process.stdout.read()}"
        return moment()

    wait_until(met, "what the test waits for", seconds=90)
    return process


def assert_kept(bench, kept):
    files = bench.files()
    assert {name: files.get(name) for name in kept} == kept
