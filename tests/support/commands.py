"""The commands of `replay` in the test's own process: each takes its words and returns its exit status."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from replay.cli.main import main


def _command(name: str) -> Callable[[Sequence[str]], int]:
    return lambda words: main([name, *words])


run_claims, run_clean, run_derive, run_interleave, run_measure, run_preflight, run_raw, run_sandbox = map(
    _command, ("claims", "clean", "derive", "interleave", "measure", "preflight", "raw", "sandbox")
)
