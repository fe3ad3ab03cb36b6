"""`rados bench`: its argv, and which of its two forms of output a run left (JSON by `-o`, or text). Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from replay.tools.base import (
    OutputError,
    Reader,
    Result,
    Run,
    Tool,
    client_options,
    connection,
    roles_by_instance,
)
from replay.tools.rados_output import combined, read_report, read_text

_MODES = {("write", None): "write", ("read", "seq"): "seq", ("read", "rand"): "rand"}
_REMOVED = re.compile(r" *Removed (\d{1,12}) objects?", re.ASCII)


class RadosBench(Tool):
    """`rados bench`, one instance in one pool."""

    name = "rados_bench"
    program = "rados"
    package = "ceph-common"

    def argv_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """Return the argv.

        `levels`: `mode` (write, seq, rand), or `io_type` with `io_pattern`; `object_size_bytes`; `threads`.
        `options`: `threads` (16), `client_options`, `keyring` and `namespace` (booleans), `max_objects` (a write ends
        after that many). It has two further placeholders: `{seconds}`, and `{run_name}`, which separates instances that
        run at once and lets a read find its objects. Raises KeyError if a level is missing.
        """
        mode = mode_of(levels)
        argv = [*self._rados(options), "bench", "{seconds}", mode]
        argv += ["-t", str(levels.get("threads", options.get("threads", 16))), "--run-name", "{run_name}"]
        if mode == "write":
            argv += ["-b", str(levels["object_size_bytes"]), "--no-cleanup"]
            if options.get("max_objects"):
                argv += ["--max-objects", str(options["max_objects"])]
        return [*argv, "--format", "json", "-o", "{output}"]

    def cleanup_argv_template(self, options: Mapping[str, Any]) -> list[str]:
        """Return the argv that removes the objects of one run name."""
        return [*self._rados(options), "cleanup", "--run-name", "{run_name}"]

    @staticmethod
    def _rados(options: Mapping[str, Any]) -> list[str]:
        namespace = ["--namespace", "{namespace}"] if options.get("namespace") else []
        return ["rados", *connection(options), "--pool", "{pool}", *namespace, *client_options(options)]

    def result_files(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str]:
        """Return the JSON file that `-o` names."""
        return {"output": "result.json"}

    def read(self, run: Run) -> Result:
        """Parse the JSON of `output`, or of stdout, or the text of stdout.

        Rates are totals divided by time, because `average_iops` is truncated; `bandwidth` is in MiB/s whatever its
        label says. `combined` puts the runs of a cell together: its level `instances`, and the passes of `seq`.
        """
        instances = int(run.levels.get("instances", 1))
        if instances == 1 and not any(role.startswith("output-") for role in run.texts):
            return self._read_one(run, "output" if run.text("output").strip() else "stdout")
        roles = roles_by_instance(run.texts, instances, run.file("output"))
        return combined([[self._read_one(run, role) for role in passes] for passes in roles])

    @staticmethod
    def _read_one(run: Run, role: str) -> Result:
        """Parse the output of one run, the file of that role."""
        file, text = run.file(role), run.text(role)
        if run.exit_status:
            message = next((line for line in text.splitlines() if line.strip() and line != "hints = 1"), "nothing")
            raise OutputError(f"exit status {run.exit_status}: {message[:120]!r}", file=file, reason="failed")
        start = text.find("{")
        if start >= 0 and not text[:start].replace("hints = 1", "").strip():
            totals, series = read_report(text, start, file)
        else:
            totals, series = read_text(text, file)
        if totals is None or run.exit_status is None:
            return Result(series=series, complete=False)
        totals.check(run.levels | {"mode": _mode_or_none(run.levels)})
        notes = () if series else ("its course over time is not known: it is a summary alone",)
        return Result(metrics=totals.metrics(), series=series, notes=notes)


class RadosBenchOutput(Reader):
    """Reads outputs of runs that Replay did not start. Each role (`output`, `output-2-1`, …) is one instance's."""

    name = "rados_bench_output"

    def read(self, run: Run) -> Result:
        """Read the outputs as the tool does. Nobody recorded an exit status: a complete output counts as good."""
        # A text that somebody copied may lack its last newline.
        texts = {role: f"{text.rstrip()}\n" for role, text in run.texts.items()}
        return TOOL.read(replace(run, texts=texts, exit_status=0))


TOOL, OUTPUT = RadosBench(), RadosBenchOutput()


def mode_of(levels: Mapping[str, Any]) -> str:
    """Return `write`, `seq` or `rand`. Raises KeyError if the levels do not say."""
    if "mode" in levels:
        return str(levels["mode"])
    kind = str(levels["io_type"])
    return _MODES[kind, None if kind == "write" else str(levels["io_pattern"])]


def _mode_or_none(levels: Mapping[str, Any]) -> str | None:
    try:
        return mode_of(levels)
    except KeyError:
        return None


def removed_objects(text: str) -> int | None:
    """Return how many objects `rados cleanup` says it removed, None if it does not say."""
    counts = [int(match[1]) for line in text.splitlines() if (match := _REMOVED.fullmatch(line))]
    return counts[0] if len(counts) == 1 else None
