"""Times `replay import` of a folder of fio reports, side by side with fio-plot, which reads and draws the same files.

.venv/bin/python tests/exchange/bench_import.py [--files N] [--repetitions N] [--fio-plot COMMAND]

fio-plot (https://pypi.org/project/fio-plot) is installed from PyPI into a throw-away environment, unless `--fio-plot`
names an installed one. The reports look like those of bench-fio: copies of one real report of fio, with other queue
depths and numbers of jobs. The two programs do different work: fio-plot draws one chart of one metric; Replay verifies
every figure, packs the originals with digests, and derives tables of every metric. It prints how long
each takes in each run, and the ratio of the two, which ran one after the other; it judges nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "tests" / "fixtures" / "fio.txt"
TEMPLATE = "==> fio-file-randwrite-4k.json <=="
JOBS = 40


def write_reports(folder: Path, files: int) -> tuple[list[int], list[int]]:
    """Write this many reports, with the names that bench-fio gives; return the queue depths and the numbers of jobs."""
    text = REPORTS.read_text().partition(TEMPLATE)[2]
    report, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
    job = report["jobs"][0]
    depths = list(range(1, -(-files // JOBS) + 1))
    written = 0
    for depth in depths:
        for jobs in range(1, JOBS + 1):
            if written == files:
                break
            job["job options"] |= {
                "iodepth": str(depth),
                "numjobs": str(jobs),
                "rw": "randwrite",
                "group_reporting": "1",
            }
            report["global options"] = {"ioengine": "libaio", "direct": "1"}
            report["timestamp_ms"] = 1_700_000_000_000 + 1000 * written
            path = folder / f"randwrite-{depth}-{jobs}.json"
            path.write_text(json.dumps(report, indent=2))
            written += 1
    return depths, list(range(1, JOBS + 1))


def timed(command: list[str], cwd: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Run a command; return its wall and CPU seconds, including those of its children."""
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return time.perf_counter() - started, used.ru_utime + used.ru_stime


def fio_plot_in(folder: Path) -> str:
    """Install fio-plot into an environment below a folder; return its command."""
    print("installing fio-plot from PyPI …", file=sys.stderr, flush=True)
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", "fio-plot"], check=True)
    return str(folder / "bin" / "fio-plot")


def main() -> None:
    """Write the reports, time both programs in turn, print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000, help="default: 1000")
    parser.add_argument("--repetitions", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument("--fio-plot", metavar="COMMAND", help="an installed fio-plot")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="replay-bench-import-") as name:
        folder = Path(name)
        command = options.fio_plot or fio_plot_in(folder / "environment")
        reports = folder / "reports"
        reports.mkdir()
        depths, jobs = write_reports(reports, options.files)
        environment = {
            **os.environ,
            "REPLAY_BENCHMARKS": str(folder / "benchmarks"),
            "PYTHONPATH": str(ROOT / "scripts"),
        }
        # Both keep their compiled modules, as usual. The first run, which is not timed, makes them.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        numbers = [*map(str, depths)], [*map(str, jobs)]
        drawn = [command, "-i", str(reports), "-T", "x", "-L", "-t", "iops", "-r", "randwrite"]
        drawn += ["-d", *numbers[0], "-n", *numbers[1], "-o", str(folder / "chart.png")]
        size = sum(path.stat().st_size for path in reports.iterdir()) / options.files
        print(f"{options.files} reports of {size / 1024:.1f} KiB")
        print(f"{'':4}  {'replay import':>24}  {'fio-plot -L':>24}  ratio  ratio of CPU")
        for number in range(options.repetitions + 1):
            imported = [sys.executable, "-m", "replay", "import", str(reports), "--data", f"run-{number}"]
            (ours, our_cpu), (theirs, their_cpu) = (timed(one, folder, environment) for one in (imported, drawn))
            if number:
                costs = f"{ours:8.2f} s ({our_cpu:5.2f} s CPU)  {theirs:8.2f} s ({their_cpu:5.2f} s CPU)"
                print(f"{number:4}  {costs}  {ours / theirs:5.2f}  {our_cpu / their_cpu:5.2f}", flush=True)


if __name__ == "__main__":
    main()
