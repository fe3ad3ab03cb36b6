"""A cluster of many OSDs, for a real session: answers of a sandbox's one OSD and one pool, many times over.

Replay's own session server runs, with a module `rados` that answers from a file. So what is measured is all that a
query costs on the measuring machine, except for Ceph's library.
"""

from __future__ import annotations

import copy
import json
import time
from pathlib import Path
from typing import Any

from replay.cluster.cluster import Cluster
from replay.cluster.session import MonitorSession
from support.samples import fixture_json

FSID = "0f3c1f9a-2f4e-4c3a-9a51-6a4f5c1d2e3b"
RADOS = '''
"""Answers like Ceph's module of this name, from answers.json beside it: by command, and its pool."""
import json, os

with open(os.path.join(os.path.dirname(__file__), "answers.json")) as file:
    ANSWERS = {name: text.encode() for name, text in json.load(file).items()}


class Rados:
    def __init__(self, **_):
        pass

    def connect(self, timeout):
        pass

    def get_fsid(self):
        return "FSID"

    def mon_command(self, command, _, timeout):
        asked = json.loads(command)
        for name in (asked["prefix"] + " " + asked.get("poolstr", ""), asked["prefix"]):
            if name in ANSWERS:
                return 0, ANSWERS[name], ""
        return -13, b"", "access denied"

    def osd_command(self, number, command, _, timeout):
        return self.mon_command(command, _, timeout)
'''


def answers(*, osds: int, pools: int, groups_of_pool: int) -> dict[str, Any]:
    """Return what the monitors of a busy cluster answer: healthy, always scrubbing somewhere; pool 1 is `replay`."""

    def sample(name: str) -> Any:
        return copy.deepcopy(fixture_json("ceph", f"{name}.json"))

    status, dump, df, perf = (sample(name) for name in ("status", "osd-dump", "osd-df", "osd-perf"))
    detail, usage = sample("osd-pool-ls-detail"), sample("df")
    groups, scrubbing = pools * groups_of_pool, osds // 3
    status["fsid"] = FSID
    status["osdmap"] |= {"num_osds": osds, "num_up_osds": osds, "num_in_osds": osds}
    status["pgmap"]["pgs_by_state"] = [
        {"state_name": "active+clean", "count": groups - scrubbing},
        {"state_name": "active+clean+scrubbing+deep", "count": scrubbing},
    ]
    infos = perf["osdstats"]["osd_perf_infos"]
    for each, key in ((dump["osds"], "osd"), (dump["osd_xinfo"], "osd"), (df["nodes"], "id"), (infos, "id")):
        (one,) = each
        each[:] = [one | {key: number} for number in range(osds)]
    names = ["replay", *(f"tenant-{number}" for number in range(2, pools + 1))]
    for each, number_key, name_key in (
        (dump["pools"], "pool", "pool_name"),
        (detail, "pool_id", "pool_name"),
        (usage["pools"], "id", "name"),
    ):
        (one,) = each
        each[:] = [one | {number_key: number, name_key: name} for number, name in enumerate(names, start=1)]
    busy = [{"pgid": f"1.{number:x}", "state": "active+clean+scrubbing+deep"} for number in range(2)]
    return {
        "status": status,
        "osd dump": dump,
        "osd df": df,
        "osd perf": perf,
        "osd pool ls": detail,
        "osd lspools": [{"poolnum": number, "poolname": name} for number, name in enumerate(names, start=1)],
        "osd ls": list(range(osds)),
        "df": usage,
        "osd crush rule dump": sample("osd-crush-rule-dump"),
        "versions": sample("versions"),
        "perf dump": sample("perf-dump"),
        "pg ls-by-pool replay": {"pg_ready": True, "pg_stats": busy},
        "time-sync-status": {"time_skew_status": {}},
        "osd pool get": {"size": 3},
        "fsid": {"fsid": FSID},
    }


class LargeSession(MonitorSession):
    """A session with such a cluster; `cpu_seconds` is what it has taken, on both sides of its pipe."""

    def __init__(self, folder: Path, found: dict[str, Any]) -> None:
        module = folder / "rados"
        module.mkdir()
        (module / "rados.py").write_text(RADOS.replace("FSID", FSID))
        (module / "answers.json").write_text(json.dumps({name: json.dumps(one) for name, one in found.items()}))
        self.python = folder / "python"
        # `-I` would hide the folder.
        self.python.write_text(f'#!/bin/sh\nshift\nPYTHONPATH={module} exec /usr/bin/python3 "$@"\n')
        self.python.chmod(0o755)
        super().__init__(Cluster(folder / "ceph.conf", "client.replay"))

    def cpu_seconds(self) -> float:
        """Return the CPU time of this process and of the session's server."""
        # What clock_getcpuclockid(3) returns for another process.
        return time.process_time() + time.clock_gettime((~self._child.pid << 3) | 2)
