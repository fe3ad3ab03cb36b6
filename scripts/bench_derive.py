"""Times derive on a synthetic experiment of ten thousand raw files, beside what a start costs without any work.

.venv/bin/python scripts/bench_derive.py [--blocks N] [--compress]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIZES = [4096 * 2**i for i in range(11)]
LIMIT_SECONDS = 3.0


def run(command: list[str], benchmarks: Path) -> float:
    """Return the wall time of a command in seconds."""
    environment = {**os.environ, "REPLAY_BENCHMARKS": str(benchmarks)}
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return time.perf_counter() - started


def main() -> int:
    """Make the files, time derive, print the figures; exit status 1 when it takes longer than promised."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=25, help="blocks of 44 points and 3 variants (25: 9,900 files)")
    parser.add_argument("--compress", action="store_true", help="store the raw files as .gz")
    parser.add_argument("--repetitions", type=int, default=3, help="runs of each command; the fastest counts")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    from support.rawtree import RawTree  # noqa: PLC0415 - tests/ is importable only now

    with tempfile.TemporaryDirectory(prefix="replay-bench-derive-") as folder:
        experiment = Path(folder) / "bench" / "rbd-journaling"
        factors = {"io_type": ["read", "write"], "io_pattern": ["seq", "rand"], "io_size_bytes": SIZES}
        RawTree(experiment, factors=factors, compress=options.compress).measure(options.blocks)
        files = sum(1 for path in (experiment / "raw").rglob("*") if path.is_file())
        derive = [sys.executable, "-m", "replay.derive", "--data", "bench"]
        imports = "import replay.workflow.dataset, replay.workflow.watch, replay.tools.rbd_bench"
        starts, wholes = [], []
        # Alternating, so that what else the machine does falls on both; the least time is the least disturbed.
        for _ in range(options.repetitions):
            starts.append(run([sys.executable, "-c", imports], Path(folder)))
            wholes.append(run(derive, Path(folder)))
            shutil.rmtree(experiment / "aggregate")
            (experiment / "tidy.csv").unlink()
        start_up, whole = min(starts), min(wholes)
    beyond = whole - start_up
    print(f"raw files:            {files}")
    print(f"start-up:             {start_up:.2f} s")
    print(f"derive:               {whole:.2f} s, {whole / start_up:.1f} times the start-up")
    print(f"beyond start-up:      {beyond:.2f} s, {beyond / files * 1e6:.0f} µs a file")
    print(f"promised beyond:      {LIMIT_SECONDS:.2f} s, {'kept' if beyond < LIMIT_SECONDS else 'NOT kept'}")
    return 0 if beyond < LIMIT_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
