"""Names the data set that the sandbox will measure into: another one if the wanted one is of another release.

`npm start` asks before the sandbox is up. After an upgrade of the host's Ceph, `local` stays as it is, and the sandbox
measures into `local-18`. Prints one line of JSON: `data_set`, and `reason`, a sentence, or null for the wanted one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from replay.base.disk import guarded
from replay.base.programs import Programs
from replay.base.releases import major_of, parse_release
from replay.cluster import sandbox_record
from replay.preflight.releases import other_releases
from replay.evidence.versions import DAEMONS, Versions, in_words
from replay.sandbox.requirements import ceph_version, usual_release


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the answer; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m replay.preflight.own_data_set", description=__doc__)
    parser.add_argument("wanted", help="the data set to measure into, if its release allows it")
    parser.add_argument("experiment", help="what will be measured")
    options = parser.parse_args(arguments)
    return guarded(lambda: _print(options.wanted, options.experiment), "nothing was changed")


def own_data_set(wanted: str, experiment: str, version: str) -> tuple[str, str | None]:
    """Return the data set that a sandbox of this version of Ceph measures into, and why it is not the wanted one."""
    now = _of_one_version(version)
    changed = other_releases(wanted, [experiment], now)
    if not changed:
        return wanted, None
    name = f"{wanted}-{major_of(version)}"
    return name, f"benchmarks/{wanted}/ was measured with another release of Ceph: {in_words(changed)}"


def sandbox_version() -> str:
    """Return the version of Ceph that the default sandbox runs, or will run once it is made. Raises ReplayError."""
    try:
        release = sandbox_record.load().options.release
    except sandbox_record.SandboxError:
        release = usual_release()  # There is no sandbox, or `up` will create it again.
    return ceph_version(Programs.of(parse_release(release)))


def _of_one_version(version: str) -> Versions:
    return {"librbd": version, **{daemon: [version] for daemon in DAEMONS}}


def _print(wanted: str, experiment: str) -> int:
    name, reason = own_data_set(wanted, experiment, sandbox_version())
    print(json.dumps({"data_set": name, "reason": reason}, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
