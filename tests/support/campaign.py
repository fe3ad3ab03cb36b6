"""Campaigns on a real sandbox through the real command line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml

from replay.base.paths import ROOT
from replay.cli.cluster_commands import MEASURE
from replay.cluster.cluster import Cluster
from replay.measure.run import chosen
from replay.ownership.ledger import Entry, Ledger
from replay.ownership.locks import KIND as LOCK
from replay.sandbox import load
from support.administrator import administrator_of, image_names, tell
from support.datasets import rows_of
from support.evidence import evidence_of
from support.patience import patient, wait_until
from support.programs import processes
from support.snakemakes import Snakemakes


@dataclass
class Campaign:
    """One data set's folders and environment, and the sandbox that it measures."""

    folder: Path
    sandbox_directory: Path
    #: Where the measuring code looks for its sandbox; tests of a foreign cluster point it elsewhere.
    sandbox_directory_seen: Path | None = None
    #: The site to measure, unless a call names another one.
    site: str = "sandbox"
    #: The most that each image's client may read or write a second, unless it is None.
    rate_bytes_per_second: int | None = None
    #: The process of which runs of Snakemake are forks, if a test only awaits them; without it, each is started.
    snakemakes: Snakemakes | None = field(default=None, repr=False)
    #: The runs that were started and not awaited at once.
    started: list[subprocess.Popen[str]] = field(default_factory=list, repr=False)

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "REPLAY_BENCHMARKS": str(self.folder / "benchmarks"),
            "REPLAY_CONFIG": str(self.folder / "config"),
            "REPLAY_STATE": str(self.folder / "state"),
            "REPLAY_SANDBOX_DIR": str(self.sandbox_directory_seen or self.sandbox_directory),
        }

    def configure(self, experiment: str, **changes) -> None:
        """Copy a shipped experiment with a changed smoke scale."""
        source = yaml.safe_load((ROOT / "config" / "experiments" / f"{experiment}.yaml").read_text())
        source["scales"]["smoke"].update(changes)
        self.write_experiment(source)

    def write_experiment(self, source: dict) -> None:
        """Write an experiment's configuration, and the sandbox's site beside it."""
        config = self.folder / "config"
        for name in ("sites", "experiments"):
            (config / name).mkdir(parents=True, exist_ok=True)
        self.write_site()
        self.configuration_of(source["name"]).write_text(yaml.safe_dump(source, sort_keys=False))

    def write_site(self) -> None:
        """Write the sandbox's site as it ships, with this campaign's rate."""
        text = (ROOT / "config" / "sites" / "sandbox.yaml").read_text()
        if (rate := self.rate_bytes_per_second) is not None:
            assert "ceilings:\n" in text
            text = text.replace("ceilings:\n", f"ceilings:\n  rate_bytes_per_second: {rate}\n")
        (self.folder / "config" / "sites" / "sandbox.yaml").write_text(text)

    def limit_rate(self, bytes_per_second: int | None) -> None:
        """Limit each image's client, in tests that do not need a peak: at its peak it takes the whole machine."""
        self.rate_bytes_per_second = bytes_per_second
        self.write_site()

    def configuration_of(self, experiment: str) -> Path:
        return self.folder / "config" / "experiments" / f"{experiment}.yaml"

    def command(self, name: str, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "replay", name, *arguments]

    def run(self, name: str, *arguments: str, timeout: float = 300.0) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(name, *arguments),
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=patient(timeout),
            check=False,
        )

    def measure_arguments(self, *experiments: str, site: str | None = None) -> list[str]:
        chosen = [word for name in experiments for word in ("--experiment", name)]
        return ["--site", site or self.site, "--data", "trial", "--scale", "smoke", *chosen]

    def measure(self, *experiments: str, site: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run the command to its end. Where there are `snakemakes`, it runs in this process, and each is a fork."""
        words = self.measure_arguments(*experiments, site=site)
        if self.snakemakes is None:
            return self.run("measure", *words, timeout=300.0 * len(experiments))
        said, complained = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, self.environment),
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(complained),
        ):
            patch.chdir(self.folder)
            self.snakemakes.instead_of_starts(patch, self.folder)
            status = MEASURE.main(words)
        return subprocess.CompletedProcess(words, status, said.getvalue(), complained.getvalue())

    def start(self, *experiments: str) -> subprocess.Popen[str]:
        return self.start_with("measure", *self.measure_arguments(*experiments))

    def start_block(self, experiment: str) -> subprocess.Popen[str]:
        """Start an experiment's first block as Snakemake does, for a test that kills it."""
        with mock.patch.dict(os.environ, self.environment):
            plan = chosen(MEASURE.parser().parse_args(self.measure_arguments(experiment))).plan
            path = plan.write(self.folder / "plans")
        first = plan.blocks[0]
        block = ["--experiment", experiment, "--block", str(first.block), "--plan", first.plan]
        return self._started([sys.executable, "-m", "replay.measure.block", "--plan-file", str(path), *block])

    def start_with(self, name: str, *arguments: str) -> subprocess.Popen[str]:
        return self._started(self.command(name, *arguments))

    def _started(self, argv: list[str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            argv,
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process

    def raw(self, experiment: str) -> Path:
        return self.folder / "benchmarks" / "trial" / experiment / "raw"

    def evidence(self, experiment: str) -> bytes:
        """All raw output of an experiment in one piece."""
        files = evidence_of(self.raw(experiment))
        return b"".join(files[name] for name in sorted(files))

    def sidecars(self, experiment: str) -> list[dict]:
        files = evidence_of(self.raw(experiment))
        names = [name for name in sorted(files) if re.fullmatch(r"block-\d+/[^/]+/attempt-\d+/[^.]+\.json", name)]
        return [json.loads(files[name]) for name in names if not name.endswith("/attempt.json")]

    def used_rows(self, experiment: str) -> list[dict[str, str]]:
        """Return the rows of an experiment's tidy.csv whose figures are used."""
        return [row for row in rows_of(self.raw(experiment).parent / "tidy.csv") if row["used"] == "1"]

    def cluster(self, name: str) -> Cluster:
        return administrator_of(load(self.sandbox_directory), name)

    def ask(self, name: str, prefix: str, **arguments: Any) -> Any:
        """Return the monitors' answer on one of the clusters, without the cost of starting the `ceph` program."""
        return tell(self.cluster(name), prefix, **arguments)

    def images(self) -> dict[str, list[str]]:
        """Return the images on each cluster, including those in the trash."""
        return {name: image_names(self.cluster(name), "replay") for name in load(self.sandbox_directory).clusters}

    def owned(self) -> list[Entry]:
        """Return what `replay clean` would remove: what the ledgers of both clusters still list, but for the lock."""
        folder, fsids = self.folder / "state" / "ledger", load(self.sandbox_directory).fsids
        entries = [entry for fsid in fsids for entry in Ledger(fsid, directory=folder).owned()]
        return [entry for entry in entries if entry.kind != LOCK]

    def processes(self, *words: str) -> list[int]:
        """Return the pids of this campaign's processes whose command line has all of `words`."""
        return processes(*words, environment=f"REPLAY_STATE={self.folder / 'state'}")

    def measuring(self) -> list[int]:
        """Return the pids of `replay measure` and of the blocks that it has started."""
        return self.processes("-m replay measure") + self.processes("-m replay.measure.block")

    def wait_for(self, condition: Callable[[], object], what: str, seconds: float = 90.0) -> None:
        """Wait as `wait_until` does, but not for what a run can no longer do because it has ended meanwhile."""
        running = [one for one in self.started if one.poll() is None]

        def met() -> bool:
            ended = [one for one in running if one.poll() is not None]
            if condition():
                return True
            assert not ended, f"{what}: the run ended before: {ended[0].communicate(timeout=patient(10))[0]}"
            return False

        wait_until(met, what, seconds)

    def runner(self, experiment: str) -> int:
        """Return the pid of the block's runner: the Python process itself, not the shell that started it."""
        found = self.processes("replay.measure.block", f"--experiment {experiment}")
        found = [pid for pid in found if Path(f"/proc/{pid}/exe").resolve().name.startswith("python")]
        assert found, f"no block of {experiment} is running"
        return found[0]
