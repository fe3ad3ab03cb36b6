"""Runs of Snakemake, each a fork of one process that has loaded it: loading takes most of the time of a run."""

from __future__ import annotations

import io
import json
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO

import pytest

from replay.base.paths import ROOT
from support.patience import patient

#: Runs Snakemake for each line that it reads, in a fork of itself, and prints its exit status.
PROGRAM = """
import json, os, sys
import jsonschema, smart_open, yaml, yte  # which it loads when it runs, and so do the rules
import snakemake.api, snakemake.dag, snakemake.scheduling.job_scheduler, snakemake.workflow
from snakemake.cli import main

for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        os.environ.clear()
        os.environ.update(asked["environment"])
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv = ["snakemake", *asked["arguments"]]
        main()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Snakemakes:
    """The process, which works in the checkout. Use it as a context."""

    def __enter__(self) -> Snakemakes:
        command = [sys.executable, "-c", PROGRAM]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.__exit__(*raised)

    def run(self, arguments: Sequence[str], environment: Mapping[str, str], *, stdout: Path, stderr: Path) -> int:
        """Run Snakemake, which prints into the two files; return its exit status as `Popen.wait` does."""
        said = {"stdout": str(stdout), "stderr": str(stderr)}
        self._process.stdin.write(json.dumps(said | {"arguments": arguments, "environment": environment}) + "\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], patient(900))[0]:
            self._process.kill()
            raise AssertionError("Snakemake did not end")
        return int(self._process.stdout.readline())

    def instead_of_starts(self, patch: pytest.MonkeyPatch, folder: Path) -> None:
        """Have `run_snakemake` come here for what it would start."""

        def start(argv: list[str], *, env: Mapping[str, str], stderr: TextIO, **_: Any) -> SimpleNamespace:
            arguments, stdout = argv[argv.index("snakemake") + 1 :], folder / "stdout"
            status = self.run(arguments, env, stdout=stdout, stderr=Path(stderr.name).absolute())
            return SimpleNamespace(stdout=io.StringIO(stdout.read_text(errors="replace")), wait=lambda: status)

        patch.setattr("replay.base.snakemake.subprocess", SimpleNamespace(Popen=start, PIPE=subprocess.PIPE))
