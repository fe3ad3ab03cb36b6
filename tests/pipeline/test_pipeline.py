"""The pipeline against a real cluster: measured once, resumed after anything, nothing measured twice, nothing left."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time

import pytest

from replay.owned.account import Account
from replay.raw.sums import SUMS
from support.patience import patient, wait_until
from support.processes import descendants
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
def measured_once(sandbox_directory, tmp_path_factory):
    """A campaign that was measured whole, for tests to go on from."""
    made = Bench(tmp_path_factory.mktemp("measured"), sandbox_directory)
    made.write_config()
    done = made.measure("tiny")
    assert done.returncode == 0, done.stdout + done.stderr
    return made


@pytest.fixture
def measured(bench, measured_once):
    """A copy of it of the test's own."""
    shutil.copytree(measured_once.folder, bench.folder, dirs_exist_ok=True)
    return bench


@one_campaign
def test_a_campaign_is_measured_derived_and_described(measured):
    assert valid_points(measured) == [(1, "write-rand-4096"), (1, "write-rand-65536")]
    assert verified(measured)
    derived = measured.run("derive", "--data", "trial")
    assert derived.returncode == 0, derived.stderr
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
def test_nothing_is_measured_twice(measured):
    before = measured.files()
    for name in ("config/experiments/tiny.yaml", "config/sites/sandbox.yaml"):
        (measured.folder / name).touch()
    measured.design["title"] = "Another title, another comment"
    measured.write_config()
    again = measured.measure("tiny")
    assert again.returncode == 0, again.stderr
    assert measured.files() == before


@one_campaign
def test_adding_a_size_measures_only_the_new_sets(measured):
    before = measured.files()
    measured.design["scales"]["smoke"]["factors"]["io_size_bytes"].append(16384)
    measured.write_config()
    again = measured.measure("tiny")
    assert again.returncode == 0, again.stderr
    after = measured.files()
    assert {name: after[name] for name in before} == before
    new_sets = {name.split("/")[1] for name in after.keys() - before.keys() if name.startswith("block-01/write")}
    assert new_sets == {"write-rand-16384"}
    assert verified(measured)


def test_a_run_ends_at_its_ceiling_and_goes_on_when_it_is_raised(bench):
    """There is room for the images' fills, and for no pilot."""
    site = bench.folder / "config" / "sites" / "sandbox.yaml"
    text = site.read_text()
    copies = bench.cluster("left").json("ceph", "osd", "pool", "get", "replay", "size")["size"]
    fills = copies * 2 * bench.design["image"]["size_bytes"]
    site.write_text(text.replace("ceilings:\n", f"ceilings:\n  bytes_written_to_media_per_run: {fills + 4096}\n"))
    done = bench.measure("tiny")
    assert done.returncode != 0
    assert "ceiling bytes_written_to_media_per_run" in done.stdout, done.stdout + done.stderr
    assert valid_points(bench) == []
    (path,) = (bench.folder / "state" / "accounts").glob("*.sandbox.trial.jsonl")
    assert fills <= Account(path).total() <= fills + 4096
    site.write_text(text)
    finish(bench, bench.files())
    assert Account(path).total() > 2 * fills, "the images were filled again, and all of it is one account"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_stops_everything_and_keeps_finished_sets(bench, number):
    process = bench.start("tiny")
    wait_for(lambda: len(valid_points(bench)) == 1, process)
    process.send_signal(number)
    assert process.wait(timeout=patient(60)) == 130
    assert tools(bench) == []
    assert bench.images() == {"left": [], "right": []}
    kept = {name: content for name, content in bench.files().items() if "attempt-1/" in name}
    finish(bench, kept)


@pytest.mark.parametrize("seed", range(3))
def test_after_a_kill_of_any_process_the_next_run_goes_on(bench, seed):
    process = bench.start("tiny")
    chance = random.Random(seed)
    wait_for(lambda: any("/round-" in name for name in bench.files()), process)
    time.sleep(chance.uniform(0, 5))
    family = [pid for pid in descendants(process.pid) if pid != process.pid]
    victims = [process.pid, *family] if seed == 0 else [chance.choice(family)] if family else [process.pid]
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait(timeout=patient(90))
    kept = bench.files()
    finish(bench, kept)


def wait_for(condition, process):
    def met():
        assert process.poll() is None, "the run ended before the test could stop it"
        return condition()

    wait_until(met, "what the test waits for", seconds=90)


def finish(bench, kept):
    """Run again: it completes, keeps all that was there, and leaves nothing on the cluster."""
    again = bench.measure("tiny")
    assert again.returncode == 0, again.stdout + again.stderr
    assert valid_points(bench) == [(1, "write-rand-4096"), (1, "write-rand-65536")]
    after = bench.files()
    assert {name: after.get(name) for name in kept} == kept
    assert not list(bench.tiny.glob("*.open")), "a block that is whole is one pack"
    assert verified(bench)
    assert tools(bench) == []
