"""Where commands crash: a project, a scripted cluster that answers without Ceph, and the commands on it.

    python -m crashes.ground COMMAND

runs one of `COMMANDS` in the working directory, which `prepare` has made; `record` traces that. A cluster is the folder
`cluster/`: a file for each image, `lock` while the cluster's lock is held, and `media` with a line of bytes for each
write. It stands for other machines, so nothing of it is lost when this one loses its power.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from replay.base.disk import guarded
from replay.base.paths import ROOT, benchmarks_directory
from replay.claims.data_set import derive_data_set
from replay.cli.cluster_commands import CLEAN, MEASURE
from replay.cluster.cluster import CephCommandError, Cluster
from replay.measure import block
from replay.measure import command as measure_command
from replay.ownership import clean as clean_command
from replay.ownership import open_site
from replay.preflight import plan, pool_checks, releases

FSID = "11111111-2222-3333-4444-555555555555"
COPIES = 3
EXPERIMENT, SITE, DATA_SET = "rbd-journaling", "scripted", "trial"
CLUSTER = "cluster"
RAW = f"benchmarks/{DATA_SET}/{EXPERIMENT}/raw"

#: `rbd` and `rados` in one. It reports 100 operations a second for each thread, without taking that time.
_PROGRAM = """\
#!/bin/sh
if [ "$1" = --version ]; then echo "ceph version 16.2.15 (scripted) pacific (stable)"; exit; fi
words=
while [ $# -gt 0 ]; do
  case $1 in
    --conf) there=${2%/*}; shift;;
    --io-type) type=$2; shift;;
    --io-size) size=$2; shift;;
    --io-threads) threads=$2; shift;;
    --io-total) total=$2; shift;;
    --name | --keyring | --format | --size | --object-size | --image-feature | --io-pattern | --pool | --lock-cookie)
      shift;;
    --*) ;;
    *) words="$words $1"; last=$1;;
  esac
  shift
done
set -- $words
case "$1 $2" in
  "lock info") [ -e "$there/lock" ] || exit 2; cat "$there/lock";;
  "lock break") rm "$there/lock";;
  "create "*) : > "$there/$last";;
  "info "*) [ -e "$there/$last" ] || exit 2; echo "{\\"id\\": \\"${last#*/}\\", \\"size\\": 16777216}";;
  "rm "*) [ -e "$there/$last" ] || exit 2; rm "$there/$last";;
  "ls "*) ls "$there/$last" | sed 's/.*/"&"/' | paste -sd, | sed 's/.*/[&]/';;
  "feature enable") ;;
  "bench "*)
    [ "$type" = read ] || echo "$total" >> "$there/media"
    operations=$(( (total + size - 1) / size )) rate=$(( 100 * threads ))
    echo "bench  type $type io_size $size io_threads $threads bytes $total pattern random"
    echo "  SEC       OPS   OPS/SEC   BYTES/SEC"
    echo "elapsed: $(( operations / rate ))   ops: $operations   ops/sec: $rate.00   bytes/sec: $(( rate * size )).00";;
  *) echo "the scripted cluster knows no:$words" >&2; exit 22;;
esac
"""

_ANSWERS: dict[str, Any] = {
    "status": {
        "health": {"status": "HEALTH_OK", "checks": {}},
        "osdmap": {"num_osds": 3, "num_up_osds": 3, "num_in_osds": 3},
        "pgmap": {"num_pgs": 33, "pgs_by_state": [{"state_name": "active+clean", "count": 33}]},
    },
    "versions": {
        kind: {"ceph version 16.2.15 (scripted) pacific (stable)": 3} for kind in ("mon", "mgr", "osd", "overall")
    },
    "osd perf": {"osd_perf_infos": []},
    "osd df": {"nodes": [{"id": 0, "name": "osd.0", "kb": 1 << 30, "kb_used": 10}]},
    "osd pool get": {"size": COPIES, "pool": "replay", "pool_id": 1},
    "osd lspools": [{"poolnum": 1, "poolname": "replay"}],
    "osd pool ls": [{"pool_id": 1, "pool_name": "replay"}],
    "df": {"pools": [{"name": "replay", "stats": {"max_avail": 1 << 40, "stored": 0, "objects": 0}}]},
    "osd count-metadata": {"bluestore": 3},
}


class ScriptedSession:
    """What a `MonitorSession` is to its callers."""

    transport = "rados"

    def __init__(self, cluster: Cluster, **_: Any) -> None:
        self.cluster = cluster
        self._lock = cluster.conf.parent / "lock"

    def __enter__(self) -> ScriptedSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close nothing."""

    def fsid(self) -> str:
        """Return the cluster's fsid."""
        return FSID

    def status(self, **_: Any) -> Any:
        """Return a healthy cluster."""
        return _ANSWERS["status"]

    def command(self, command: dict[str, Any], *, target: str = "mon", **_: Any) -> Any:
        """Answer a question. An unknown one is an error, never a guess."""
        if target == "object":
            return self._object(command)
        if command["prefix"] not in _ANSWERS:
            raise CephCommandError(f"the scripted cluster has no answer to {command}", where=CLUSTER)
        return _ANSWERS[command["prefix"]]

    def _object(self, asked: dict[str, Any]) -> None:
        if asked["object"] != "replay-lock":
            raise _refusal(errno.ENOENT)
        if asked["prefix"] == "remove":
            self._lock.unlink()
        elif self._lock.exists() and f'"{asked["cookie"]}"' not in self._lock.read_text():
            raise _refusal(errno.EBUSY)
        elif not asked["renew"]:
            locker = {"name": "client.replay", "cookie": asked["cookie"], "description": asked["description"]}
            new = self._lock.with_name("lock.new")  # a cluster does it in one step
            new.write_text(json.dumps({"lockers": [locker | {"expiration": "later"}]}))
            new.rename(self._lock)
        elif not self._lock.exists():
            raise _refusal(errno.ENOENT)


def _refusal(number: int) -> CephCommandError:
    return CephCommandError(os.strerror(number), where=CLUSTER, exit_status_of_tool=number)


def _in_this_process(arguments: Any, settings: list[str], log: Path, told: Callable[[str], None], **_: Any) -> int:
    """Measure the blocks of a plan as Snakemake's jobs do, but without Snakemake, which writes no evidence."""
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("")
    path = Path(next(one for one in settings if one.startswith("plan_file=")).partition("=")[2]).absolute()
    for one in json.loads(path.read_text())["blocks"]:
        words = [f"--{key}={one[key]}" for key in ("experiment", "block", "plan")]
        if status := block.main([f"--plan-file={path}", *words]):
            return status
    return 0


def make_project(folder: Path) -> None:
    """Make what all grounds share, and nothing changes: the configuration and the scripted programs."""
    shutil.copytree(ROOT / "config", folder / "config", symlinks=False)
    experiment = folder / "config" / "experiments" / f"{EXPERIMENT}.yaml"
    source = yaml.safe_load(experiment.read_text())
    source["scales"]["smoke"] |= {
        "variants": ["without-journal"],
        "factors": {"io_type": ["write"], "io_pattern": ["rand"], "io_size_bytes": [4096, 65536]},
        "minimum_seconds": 0.1,
    }
    experiment.write_text(yaml.safe_dump(source, sort_keys=False))
    site = {
        "name": SITE,
        "label": "Scripted",
        "limitation": "No cluster at all.",
        "cluster": {"conf": f"~/{CLUSTER}/ceph.conf", "client": "client.replay"},
        "pools": {"data": {"name": "replay"}},
        "allows": [],
    }
    (folder / "config" / "sites" / f"{SITE}.yaml").write_text(yaml.safe_dump(site))
    (folder / "bin").mkdir()
    for name in ("rbd", "rados"):
        (folder / "bin" / name).write_text(_PROGRAM)
        (folder / "bin" / name).chmod(0o755)


def prepare(root: Path, project: Path) -> None:
    """Make an empty ground in a new folder."""
    (root / CLUSTER / "replay").mkdir(parents=True)
    (root / CLUSTER / "ceph.conf").write_text(f"[global]\nfsid = {FSID}\n")
    link(root, project)


def link(root: Path, project: Path) -> None:
    """Make a ground a project, whose configuration is the shared one."""
    (root / "config").symlink_to(project / "config")


def environment(root: Path, project: Path) -> dict[str, str]:
    """Return the environment of commands on a ground."""
    return {
        **os.environ,
        "HOME": str(root),
        "REPLAY_BENCHMARKS": str(root / "benchmarks"),
        "REPLAY_CONFIG": str(project / "config"),
        "REPLAY_STATE": str(root / "state"),
        "PATH": f"{project / 'bin'}:{os.environ['PATH']}",
    }


def install() -> None:
    """Let the commands of this process meet the scripted cluster. Deriving is a command of its own here."""
    for module in (open_site, releases, plan, pool_checks, clean_command):
        module.MonitorSession = ScriptedSession  # type: ignore[attr-defined]
    measure_command.run_snakemake = _in_this_process


def measure(blocks: int = 1) -> int:
    """Run `replay measure`."""
    words = ["--site", SITE, "--data", DATA_SET, "--scale", "smoke", "--experiment", EXPERIMENT]
    options = MEASURE.parser().parse_args([*words, "--blocks", str(blocks)])
    return guarded(lambda: measure_command.run(options), MEASURE.kept)


def derive() -> int:
    """Derive in this process, where each system call is seen."""
    derive_data_set(benchmarks_directory() / DATA_SET)
    return 0


COMMANDS: dict[str, Callable[[], int]] = {
    "measure": measure,
    "measure-more": lambda: measure(2),
    "derive": derive,
    "clean": lambda: CLEAN.main(["--site", SITE, "--yes"]),
}

if __name__ == "__main__":
    install()
    sys.exit(COMMANDS[sys.argv[1]]())
