"""Times deriving, for the shipped data in packs and as loose files, and for growing numbers of generated cells.

.venv/bin/python scripts/bench_derive.py [--cells N …] [--repetitions N] [--against COMMIT] [--cold]

`--against COMMIT` times the code and the data of an earlier commit side by side with those of today. With `--cold`, the
shipped data are read from the disk, as after a restart; this empties the machine's caches and needs root.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHES = Path("/proc/sys/vm/drop_caches")
#: The largest of the data sets that ship.
DATA_SET = "pacific"
sys.path.insert(0, str(ROOT / "tests"))

from replay.evidence.durable import sha256, sums_text  # noqa: E402
from replay.evidence.pack import PACK, write_pack  # noqa: E402
from support.evidence import members_of  # noqa: E402 - tests/ is importable only now
from support.rawtree import RawTree  # noqa: E402

SIZES = [4096 * 2**i for i in range(11)]
#: From the smallest to the largest number of cells, time and memory per cell may grow by at most this factor.
LINEAR_WITHIN = 1.5
#: The whole command, and only reading and deriving, one experiment after another in one process.
COMMAND = ("-m", "replay", "derive", "--data", "{data_set.name}")
ALONE = (
    "-c",
    "import sys; from pathlib import Path; from replay.derive.experiment import derive_experiment\n"
    "for raw in sorted(Path(sys.argv[1]).glob('*/raw')): derive_experiment(raw.parent)",
    "{data_set}",
)


@dataclass(frozen=True)
class Cost:
    """The cost of a process: wall time and CPU time in seconds, and its peak memory in MiB."""

    wall_seconds: float
    cpu_seconds: float
    peak_mib: float

    def __str__(self) -> str:
        return f"{self.wall_seconds:7.2f} s wall  {self.cpu_seconds:7.2f} s CPU  {self.peak_mib:6.0f} MiB"


def empty_caches() -> None:
    """Make the kernel forget what it has read, so that the next program reads from the disk. Needs root."""
    os.sync()
    CACHES.write_text("3")


def run(data_set: Path, code: Path, program: tuple[str, ...], *, cold: bool = False) -> Cost:
    """Derive a data set in a separate process, and return the cost of that process and its children."""
    for note in data_set.glob("*/experiment.json"):
        note.unlink(missing_ok=True)  # otherwise nothing would be derived again
    environment = {
        **os.environ,
        **{"REPLAY_BENCHMARKS": str(data_set.parent), "PYTHONPATH": str(code / "scripts")},
        # The modules are compiled, as they are on a machine that has run the program before.
        **{"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(data_set.parents[1] / "compiled")},
    }
    command = [sys.executable, *(word.format(data_set=data_set) for word in program)]
    if cold:
        empty_caches()
    started = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def least(repetitions: int, *jobs: tuple[Path, Path, tuple[str, ...]], cold: bool = False) -> list[Cost]:
    """Run jobs in turn, so that other load affects all of them; return the fastest run of each."""
    runs = [[run(*job, cold=cold) for job in jobs] for _ in range(repetitions)]
    return [min(costs, key=lambda cost: cost.wall_seconds) for costs in zip(*runs, strict=True)]


def loose(source: Path, target: Path) -> None:
    """Copy a data set with its packs unpacked into open blocks, so that each file is a file on disk."""
    for path in source.rglob("*"):
        if match := PACK.fullmatch(path.name):
            folder = target / path.parent.relative_to(source) / f"block-{match['block']}.open"
            folder.mkdir(parents=True, exist_ok=True)
            with tarfile.open(path) as archive:
                archive.extractall(folder, filter="data")
        elif path.is_file():
            (target / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target / path.relative_to(source))
    for sums in target.glob("*/raw/SHA256SUMS"):
        lines = sums.read_text().splitlines(keepends=True)
        sums.write_text("".join(line for line in lines if not PACK.fullmatch(line[66:].rstrip())))


def generated(experiment: Path, cells: int) -> int:
    """Make packs with about `cells` cells, in blocks of 44 points and 3 variants; return how many cells there are."""
    factors = {"io_type": ["read", "write"], "io_pattern": ["seq", "rand"], "io_size_bytes": SIZES}
    tree = RawTree(experiment, factors=factors).measure(1)
    (first,) = tree.packs()
    files = {name: content for name, content in members_of(first).items() if name != "SHA256SUMS"}
    per_block = len(tree.public["cells"])
    blocks = max(1, round(cells / per_block))
    listed = {first.name: sha256(first.read_bytes())}
    for block in range(2, blocks + 1):
        inside = {
            name.replace("block-01", f"block-{block:02d}", 1): content.replace(b'"block": 1,', b'"block": %d,' % block)
            for name, content in files.items()
        }
        name = first.name.replace("block-01", f"block-{block:02d}")
        sums = {one: sha256(content) for one, content in inside.items()}
        listed[name] = write_pack(tree.raw / name, sums, inside.__getitem__, "")
    with (tree.raw / "SHA256SUMS").open("ab") as file:
        file.write(sums_text({name: digest for name, digest in listed.items() if name != first.name}))
    return blocks * per_block


def earlier(commit: str, folder: Path) -> tuple[Path, Path]:
    """Extract the code and the shipped data of a commit into a folder; return the folders of the data and the code."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-tree", "--name-only", commit, "benchmarks/"], check=True, capture_output=True
    ).stdout.split()
    # The name under which the largest data set shipped before others joined it.
    name = DATA_SET if f"benchmarks/{DATA_SET}".encode() in listed else "reference"
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", commit, "scripts", "config", f"benchmarks/{name}"],
        check=True,
        capture_output=True,
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder / "benchmarks" / name, folder


def has_command(code: Path) -> bool:
    """Return whether `python -m replay` is a program in this checkout; early ones had a script for each task."""
    return (code / "scripts" / "replay" / "__main__.py").exists()


def main() -> int:
    """Make the data, time deriving, print the figures; return 1 if time or memory grows faster than the cells."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--cells", type=int, nargs="+", default=[10_000, 30_000, 100_000], help="default: 10000 30000 100000"
    )
    parser.add_argument(
        "--repetitions", type=int, default=3, help="runs of each, of which the fastest counts (default: 3)"
    )
    parser.add_argument("--against", metavar="COMMIT", help="an earlier commit to compare with")
    parser.add_argument("--cold", action="store_true", help="read the shipped data from the disk (needs root)")
    options = parser.parse_args()
    if options.cold and not os.access(CACHES, os.W_OK):
        parser.error(f"--cold writes to {CACHES}: run it as root, on the machine itself")
    with tempfile.TemporaryDirectory(prefix="replay-bench-derive-") as name:
        folder = Path(name)
        shipped(folder, options.repetitions, options.against, cold=options.cold)
        return growth(folder, sorted(options.cells), options.repetitions)


def shipped(folder: Path, repetitions: int, against: str | None, *, cold: bool) -> None:
    """Print the cost of deriving the shipped data, from packs and from loose files."""
    shutil.copytree(ROOT / "benchmarks" / DATA_SET, folder / "packs" / DATA_SET)
    loose(ROOT / "benchmarks" / DATA_SET, folder / "loose" / DATA_SET)
    places = {"packs": (folder / "packs" / DATA_SET, ROOT), "loose files": (folder / "loose" / DATA_SET, ROOT)}
    if against:
        places[f"code and files of {against}"] = earlier(against, folder / "earlier")
    for title, program in {"alone, in one process": ALONE, "replay derive": COMMAND}.items():
        print(f"{DATA_SET}, {title}:")
        able = {what: place for what, place in places.items() if program is not COMMAND or has_command(place[1])}
        for what in places.keys() - able.keys():
            print(f"  {what:28} had no such command yet")
        costs = least(repetitions, *((*place, program) for place in able.values()), cold=cold)
        for (what, (data_set, _)), cost in zip(able.items(), costs, strict=True):
            files = sum(1 for path in data_set.glob("*/raw/**/*") if path.is_file())
            ratio = cost.wall_seconds / costs[0].wall_seconds
            print(f"  {what:28} {files:6} raw files  {cost}  {ratio:.2f} times the packs' time", flush=True)


def growth(folder: Path, wanted: list[int], repetitions: int) -> int:
    """Print the cost of deriving these numbers of generated cells; return 1 if it grows more than linearly."""
    per_cell = []
    for number in wanted:
        data_set = folder / "generated" / f"cells-{number}"
        cells = generated(data_set / "rbd-journaling", number)
        (cost,) = least(repetitions, (data_set, ROOT, ALONE))
        per_cell.append((cost.cpu_seconds / cells, cost.peak_mib / cells))
        print(
            f"generated, {cells:7} cells  {cost}  {cost.cpu_seconds / cells * 1e6:.0f} µs CPU and "
            f"{cost.peak_mib / cells * 1024:.1f} KiB a cell",
            flush=True,
        )
        shutil.rmtree(data_set)
    time_ratio, memory_ratio = (last / first for first, last in zip(per_cell[0], per_cell[-1], strict=True))
    linear = time_ratio < LINEAR_WITHIN and memory_ratio < LINEAR_WITHIN
    print(
        f"with the most cells, a cell takes {time_ratio:.2f} times as much CPU time and "
        f"{memory_ratio:.2f} times as much memory as with the fewest: {'linear' if linear else 'NOT linear'}"
    )
    return 0 if linear else 1


if __name__ == "__main__":
    sys.exit(main())
