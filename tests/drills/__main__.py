"""Runs drills on a sandbox of one release, prints a table, and writes what was found as JSON: `npm run drills`."""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from drills.drill import Drill, Ground
from replay.base.clock import utc_now
from replay.base.errors import ReplayError
from replay.base.paths import ROOT
from replay.base.programs import HOST, parse_release
from replay.evidence.record import measuring_code
from replay.sandbox import down, load, up
from support.campaign import Campaign
from support.foreign import foreign_site, measure_as_foreign

MODULES = ("interruptions", "daemons", "disks", "clients", "files", "clock", "distance")
#: Those on clusters that Replay did not start.
MODULES_BESIDE_TENANTS = ("beside_tenants",)
FOREIGN_USER = "client.replay-drill"
#: A run of the smallest design, slow enough to be met on its way.
RATE_BYTES_PER_SECOND = 16 << 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen drills. Returns 0, or 1 if one failed."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _interrupt)  # so that the sandbox is removed
    drills = {drill.name: drill for drill in _drills(*MODULES, *MODULES_BESIDE_TENANTS)}
    if unknown := [name for name in options.drills if name not in drills]:
        print(f"there is no drill {', '.join(unknown)}; there are {', '.join(drills)}", file=sys.stderr)
        return 2
    results = ROOT / ".replay" / "drills" / str(options.release)
    results.mkdir(parents=True, exist_ok=True)
    modules = MODULES_BESIDE_TENANTS if options.beside_tenants else MODULES
    chosen = [drills[name] for name in options.drills or (one.name for one in _drills(*modules))]
    with _ground(options.release, sandbox=any(one.needs_sandbox for one in chosen)) as directory:
        for drill in chosen:
            name, found = drill.name, _run(drill, directory)
            (results / f"{name}.json").write_text(json.dumps(found, indent=2) + "\n")
            print(f"{name} {'passed' if found['passed'] else 'FAILED'}: {found['found']}", flush=True)
    every = [json.loads(path.read_text()) for path in results.glob("[DT]*.json")]
    every.sort(key=lambda one: _order(one["drill"]))
    print(_table(every))
    if options.json:
        Path(options.json).write_text(json.dumps(every, indent=2) + "\n")
    return 0 if all(one["passed"] for one in every) else 1


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _release(text: str) -> str:
    number = parse_release(text)
    return HOST if number is None else str(number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="npm run drills --", description=__doc__)
    parser.add_argument("drills", nargs="*", metavar="DRILL", help="only these, such as D4 D8; results of others stay")
    parser.add_argument(
        "--beside-tenants", action="store_true", help="those on clusters that Replay did not start, T1 to T10"
    )
    parser.add_argument(
        "--release", type=_release, default=HOST, help="the release of Ceph of the sandbox (the host's)"
    )
    parser.add_argument("--json", metavar="FILE", help="also write every result to this file")
    return parser


def _drills(*modules: str) -> Iterator[Drill]:
    found = [one for module in modules for one in importlib.import_module(f"drills.{module}").DRILLS]
    yield from sorted(found, key=lambda one: _order(one.name))


def _order(name: str) -> tuple[str, int]:
    return name[0], int(name[1:])


@contextlib.contextmanager
def _ground(release: str, *, sandbox: bool) -> Iterator[Path]:
    """Yield the folder for a sandbox, which is started if it is needed, and removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="replay-drills-", dir="/var/tmp") as folder:
        directory = Path(folder).resolve() / "sandbox"
        if not sandbox:
            yield directory
            return
        try:
            print(f"starting a sandbox in {directory}", flush=True)
            up(directory, left_osd_bytes=8 << 30, right_osd_bytes=8 << 30, release=release)
            yield directory
        finally:
            down(directory)


def _run(drill: Drill, directory: Path) -> dict[str, object]:
    """Run one drill in a folder of its own; return what is to be known of it."""
    began = time.monotonic()
    print(f"{drill.name}: {drill.title} …", flush=True)
    with tempfile.TemporaryDirectory(prefix=f"{drill.name}-", dir=directory.parent) as folder:
        campaign = Campaign(Path(folder), directory)
        campaign.configure(drill.experiment, **drill.smoke)
        campaign.limit_rate(RATE_BYTES_PER_SECOND)
        if drill.foreign:
            measure_as_foreign(campaign, _foreign_site(directory))
        try:
            found, passed = drill.run(Ground(campaign, drill.experiment)), True
        except (AssertionError, ReplayError, OSError, subprocess.SubprocessError) as error:
            # The other drills take place all the same.
            found, passed = str(error) or repr(error), False
        finally:
            if drill.needs_sandbox:
                up(directory)  # the next drill begins with whole clusters
    return {
        "drill": drill.name,
        "title": drill.title,
        "passed": passed,
        "found": found,
        "seconds": round(time.monotonic() - began),
        "ceph": load(directory).ceph_version if drill.needs_sandbox else None,
        "at": utc_now(),
        **measuring_code(),
    }


@functools.cache
def _foreign_site(directory: Path) -> str:
    """Return a site's file for the sandbox's clusters, whose users are made once."""
    folder = directory.parent / "foreign"
    folder.mkdir()
    sandbox = load(directory)
    lines = (
        f"client_release: {sandbox.options.release}",
        "client_hosts: [localhost]",
        f"ceilings: {{rate_bytes_per_second: {RATE_BYTES_PER_SECOND}}}",
        "allows: [second_site, client_hosts]",
    )
    return foreign_site(sandbox, folder, FOREIGN_USER, lines)


def _table(results: Sequence[dict[str, object]]) -> str:
    rows = ["", "| drill | what | passed | seconds | found |", "|---|---|---|---:|---|"]
    for one in results:
        found = str(one["found"]).splitlines()[0]
        passed = "yes" if one["passed"] else "**no**"
        rows.append(f"| {one['drill']} | {one['title']} | {passed} | {one['seconds']} | {found} |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())
