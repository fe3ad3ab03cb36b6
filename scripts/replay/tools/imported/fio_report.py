"""fio's JSON of any release since 3.0: one report of jobs with one workload, or several of runs at the same time."""

from __future__ import annotations

from typing import Any

from replay.tools.base import OutputError, Reader, Result, Run
from replay.tools.output.fio_output import read_clients
from replay.tools.output.fio_totals import check_levels, histogram, metrics
from replay.tools.output.rados_runs import roles_by_instance


class FioReport(Reader):
    """Reads fio's reports. Each role (`output`, `output-2-1`, …) is the report of one fio; all ran at once."""

    name = "fio_report"

    def read(self, run: Run) -> Result:
        """Read the reports; see `Reader.read`. Levels: `instances` (the number of reports), `rw`, `io_size_bytes`."""
        file, levels = run.file("output"), run.levels
        roles = [one for ones in roles_by_instance(run.texts, int(levels.get("instances", 1)), file) for one in ones]
        clients = []
        for role in roles:
            clients += read_clients(run.text(role), run.file(role), 0, foreign=True)
        idle = [client for client in clients if not client.directions]
        if idle or not clients:
            what = f"no I/O was done by {', '.join(sorted({one.name for one in idle}))}" if idle else "no job reported"
            raise OutputError(what, file=file, reason="failed")
        asked: dict[str, Any] = {"io_size_bytes": levels.get("io_size_bytes")}
        if "rw" in levels:
            asked["io_type"] = levels["rw"]
        for client in clients:
            check_levels(client, asked)
        # The number of entries depends on how the report was printed. The level `jobs` says how many jobs ran.
        measured = {name: value for name, value in metrics(clients).items() if name != "clients"}
        return Result(metrics=measured, histogram=lambda: histogram(clients))


READER = FioReport()
