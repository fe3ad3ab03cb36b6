"""`rados bench`: its argv, and the choice of reader for its two output forms (JSON by `-o`, or text)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from replay.tools.base import OutputError, Result, Run, Tool, client_options, connection, number
from replay.tools.json_output import Place, read_json
from replay.tools.rados_output import Row, Series, Totals, combined, read_text, roles_by_instance

_MODES = {("write", None): "write", ("read", "seq"): "seq", ("read", "rand"): "rand"}
JSON_DECIMALS = 1e-6
_REMOVED = re.compile(r" *Removed (\d{1,12}) objects?", re.ASCII)


class RadosBench(Tool):
    """`rados bench`, one instance in one pool."""

    name = "rados_bench"
    program = "rados"

    def argv_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """Return the argv.

        `levels`: `mode` (write, seq, rand), or `io_type` with `io_pattern`; `object_size_bytes`; `threads`.
        `options`: `threads` (16), `client_options`, `keyring` and `namespace` (booleans), `max_objects` (a write ends
        after that many). It has two further placeholders: `{seconds}`, and `{run_name}`, which separates instances that
        run at once and lets a read find its objects. Raises KeyError if a level is missing.
        """
        mode = mode_of(levels)
        argv = ["rados", *connection(options), "--pool", "{pool}"]
        if options.get("namespace"):
            argv += ["--namespace", "{namespace}"]
        argv += [*client_options(options), "bench", "{seconds}", mode]
        argv += ["-t", str(levels.get("threads", options.get("threads", 16))), "--run-name", "{run_name}"]
        if mode == "write":
            argv += ["-b", str(levels["object_size_bytes"]), "--no-cleanup"]
            if options.get("max_objects"):
                argv += ["--max-objects", str(options["max_objects"])]
        return [*argv, "--format", "json", "-o", "{output}"]

    def cleanup_argv_template(self, options: Mapping[str, Any]) -> list[str]:
        """Return the argv that removes the objects of one run name."""
        argv = ["rados", *connection(options), "--pool", "{pool}"]
        if options.get("namespace"):
            argv += ["--namespace", "{namespace}"]
        return [*argv, *client_options(options), "cleanup", "--run-name", "{run_name}"]

    def result_files(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str]:
        """Return the JSON file that `-o` names."""
        return {"output": "result.json"}

    def read(self, run: Run) -> Result:
        """Parse the JSON of `output`, or of stdout, or the text of stdout.

        Rates are totals divided by time, because `average_iops` is truncated; `bandwidth` is in MiB/s whatever its
        label says. `rados_runs` combines the runs of a cell: its level `instances`, and the passes of `seq`.
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
            said = next((line for line in text.splitlines() if line.strip() and line != "hints = 1"), "nothing")
            raise OutputError(f"exit status {run.exit_status}: {said[:120]!r}", file=file, reason="failed")
        start = text.find("{")
        if start >= 0 and not text[:start].replace("hints = 1", "").strip():
            totals, series = _read_json(text, start, file)
        else:
            totals, series = read_text(text, file)
        if totals is None or run.exit_status is None:
            return Result(series=series, complete=False)
        totals.check(run.levels | {"mode": _mode_or_none(run.levels)})
        return Result(metrics=totals.metrics(), series=series)


TOOL = RadosBench()


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
    found = [int(match[1]) for line in text.splitlines() if (match := _REMOVED.fullmatch(line))]
    return found[0] if len(found) == 1 else None


def _read_json(text: str, start: int, file: str) -> tuple[Totals, Series]:
    report = read_json(text, file, start=start)
    kinds = [kind for kind in ("write", "read") if f"total_{kind}s_made" in report.value]
    if len(kinds) != 1:
        report.refuse("no total of reads or writes made")
    kind = kinds[0]
    size, seconds = report.number(f"{kind}_size"), report.number("total_time_run")
    keys = {
        "operations": f"total_{kind}s_made", "seconds": "total_time_run", "operation size": f"{kind}_size",
        "object size": "object_size", "bandwidth": "bandwidth", "iops": "average_iops", "latency": "average_latency",
        "threads": "concurrent_ios",
    }  # fmt: skip
    totals = Totals(
        kind=kind,
        seconds=seconds,
        operations=report.number(f"total_{kind}s_made"),
        operation_bytes=size,
        object_bytes=report.number("object_size") if "object_size" in report.value else size,
        mib_per_second=report.number("bandwidth"),
        iops=report.number("average_iops"),
        threads=report.number("concurrent_ios") if "concurrent_ios" in report.value else None,
        latency={key: report.number(f"{key}_latency") for key in ("average", "max", "min")},
        # With six decimals, the time of a pass that lasts a tenth of a second has five significant digits.
        relative_rounding=1e-6 + JSON_DECIMALS / max(seconds, JSON_DECIMALS),
        absolute_rounding=JSON_DECIMALS,
        latency_rounding_seconds=JSON_DECIMALS,
        refuse=lambda what, statement: report.refuse(what, key=keys[statement]),
    )
    rows = report.rows("datas")
    return totals, totals.series(list(map(_row, rows)), lambda what, index: rows[index].refuse(what))


def _row(place: Place) -> Row:
    # A rate over no time is printed as `nan`.
    stated = (number(place.at(key).value) for key in ("started", "cur_ops", "cur_bw", "last_lat", "avg_lat"))
    return Row(place.number("sec"), place.number("finished"), *stated)
