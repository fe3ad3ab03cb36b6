"""docs/adding-an-experiment.md: its list of protocols follows their declarations, and its example works.

The table of levels in docs/experiments.md follows the configuration.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from types import SimpleNamespace

import pytest

from replay.base.paths import ROOT
from replay.base.progress import Progress
from replay.cluster.cluster import Cluster
from replay.config.experiments import load_experiment_document
from replay.design import describe
from replay.design.expansion import expand
from replay.design.procedures import check_experiment, needs_of, protocol_names
from replay.measure.runner import BlockRunner
from replay.owned.images import BlockImage
from replay.procedures.targets import images
from replay.workflow.command import main as derive
from support.bench import bench_of

NAME = "journal-threads"
#: An `rbd` that reports 100 operations a second for each of its threads, without taking that time.
RBD = """\
#!{python}
import sys
words = dict(zip(sys.argv[1:], sys.argv[2:]))
size, threads, total = (int(words[name]) for name in ("--io-size", "--io-threads", "--io-total"))
operations, rate = -(-total // size), 100.0 * threads
print(f"bench  type {{words['--io-type']}} io_size {{size}} io_threads {{threads}} bytes {{total}} pattern random")
print("  SEC       OPS   OPS/SEC   BYTES/SEC")
print(f"elapsed: {{int(operations / rate)}}   ops: {{operations}}   ops/sec: {{rate:.2f}}   "
      f"bytes/sec: {{rate * size:.2f}}")
"""


@pytest.mark.parametrize(("path", "part", "text"), describe.PARTS, ids=lambda one: one if isinstance(one, str) else "")
def test_the_generated_parts_of_the_pages_are_up_to_date(path, part, text):
    page = path.read_text()
    assert page == describe.replaced(page, part, text()), "run `.venv/bin/python -m replay.design.describe`"


def test_the_list_of_protocols_follows_their_declarations():
    page = describe.PAGE.read_text()
    for name in protocol_names():
        assert f"### {name}\n" in page
        assert all(f"| `{option.name}` |" in page for option in needs_of(name).options)


@pytest.fixture
def example(tmp_path, monkeypatch):
    """The page's example as a file, with a scripted `rbd` as the only tool."""
    text = re.search(r"```yaml\n(.*?)```", describe.PAGE.read_text(), re.DOTALL)[1]
    (tmp_path / "config" / "experiments").mkdir(parents=True)
    (tmp_path / "config" / "schemas").symlink_to(ROOT / "config" / "schemas")
    (tmp_path / "config" / "claims.yaml").symlink_to(ROOT / "config" / "claims.yaml")
    for shipped in (ROOT / "config" / "experiments").glob("*.yaml"):
        (tmp_path / "config" / "experiments" / shipped.name).symlink_to(shipped)
    (tmp_path / "config" / "experiments" / f"{NAME}.yaml").write_text(text)
    program = tmp_path / "bin" / "rbd"
    program.parent.mkdir()
    program.write_text(RBD.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("REPLAY_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    return load_experiment_document(NAME)


def test_the_example_is_measured_and_derived(example, tmp_path, monkeypatch):
    check_experiment(example.data, example.where)
    design = expand(example.data, "smoke")
    removed = []

    def create(bench, suffix, image):
        return BlockImage("replay", "", suffix, image, suffix)

    monkeypatch.setattr(images, "create_image", create)
    monkeypatch.setattr(images, "remove_images", lambda bench, those: removed.extend(one.name for one in those))
    monkeypatch.setattr("replay.measure.runner.remove_owned_leftovers", lambda bench: None)
    # Versions are cached for the whole process, and other tests need the real ones.
    monkeypatch.setattr(
        "replay.measure.runner.versions", lambda session, program, secondary: {"tool": f"{program} of a test"}
    )
    pools = SimpleNamespace(data=SimpleNamespace(name="replay", namespace=""))
    site = SimpleNamespace(name="trial", sandbox=None, second_site=None, pools=pools)
    session = SimpleNamespace(cluster=Cluster("c"), command=lambda command: {})
    load = {"cpu_idle_fraction": 0.5, "disk_busy_fraction": 0.1, "load_1min": 1.0}
    sampler = SimpleNamespace(read=lambda: None, load=lambda before, after: load)
    bench = bench_of(site, session, sampler=sampler)
    healthy = SimpleNamespace(refuse=(), summary={"status": "HEALTH_OK"})
    guard = SimpleNamespace(
        before_block=lambda: None,
        before_set=lambda what, **ahead: None,
        settle=lambda: iter(()),
        health=lambda: healthy,
        after_cell=lambda measured: healthy,
        stop_after_cell=lambda: None,
        new={},
        sentry=None,
    )
    raw = tmp_path / "benchmarks" / "trial" / NAME / "raw"
    runner = BlockRunner(bench, design, 1, raw, Progress(), guard=guard)
    runner.run()
    assert sorted(removed) == ["with-journal", "without-journal"]
    sizes = runner.protocol.driver.io_total_bytes
    cells = {cell.cell_id: cell for one in design.sets for cell in one.cells}
    for cell_id, total in sizes.items():
        # Two seconds at a hundred operations a second for each operation in flight.
        assert total == 2 * 100 * cells[cell_id].levels["io_threads"] * 4096
    assert len(sizes) == len(cells) == 4
    assert derive(["--data", "trial"]) == 0
    table = tmp_path / "benchmarks" / "trial" / NAME / "aggregate" / "throughput-write-rand-4096.csv"
    assert table.read_text().splitlines() == [
        "series,x,y,low,high,n",
        *(
            f"{label},{threads},{rate},{rate},{rate},1"
            for label in ("Without journal", "With journal")
            for threads in (1, 16)
            for rate in [threads * 100 * 4096]
        ),
    ]
