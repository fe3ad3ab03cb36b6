"""Whether a data set may continue with the present releases of cluster and client: it never mixes two releases.

As a program, `python -m replay.preflight.releases DATA_SET EXPERIMENT`, it names the data set that the sandbox will
measure into: another one if the wanted one is of another release. `npm start` asks before the sandbox is up. After an
upgrade of the host's Ceph, `local` stays as it is, and the sandbox measures into `local-18`. It prints one line of
JSON: `data_set`, and `reason`, a sentence, or null for the wanted one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from replay.base.disk import guarded
from replay.base.errors import ConfigurationError
from replay.base.paths import benchmarks_directory, replay_command
from replay.base.programs import Programs, major_of, parse_release
from replay.cluster import sandbox_record
from replay.cluster.session import MonitorSession, versions
from replay.cluster.site import Site
from replay.evidence.attempts import History
from replay.evidence.data_set import experiments_in, raw_directory, read_campaign
from replay.evidence.record import CLIENT, DAEMONS, ReleaseChange, Versions, changes, in_words, unknown_releases
from replay.preflight.checks import Findings
from replay.sandbox.releases import ceph_version, usual_release


def check_releases(site: Site, data_set: str, experiments: Iterable[str]) -> list[str]:
    """Ask the site's clusters for their releases, and return sentences about those that a person should know of.

    Raises ConfigurationError if the data set was measured with other releases, and CephCommandError if a cluster does
    not answer.
    """
    site.primary.programs.check()
    with ExitStack() as stack:
        session = stack.enter_context(MonitorSession(site.primary))
        secondary = stack.enter_context(MonitorSession(site.secondary)) if site.secondary else None
        session.fsid()  # Fails if the cluster does not answer. Asking for versions would not.
        now = versions(session, "rbd", secondary)
    refuse_other_releases(site, data_set, experiments, now)
    return unknown_releases(now)


def refuse_other_releases(site: Site, data_set: str, experiments: Iterable[str], now: Versions) -> None:
    """Raise ConfigurationError if the data set's evidence was measured with other major releases than `now`'s."""
    if changed := other_releases(data_set, experiments, now):
        first = changed[0]
        # Such as mine-18, or mine-client-16.
        name = "-".join([data_set, *([CLIENT] if first.what == CLIENT else []), *map(str, sorted(first.now))])
        command = replay_command("measure", "--site", site.name, "--data", name)
        raise ConfigurationError(
            f"this data set was measured with another release of Ceph: {in_words(changed)}",
            where=benchmarks_directory() / data_set,
            next_step=f"a data set never mixes releases: measure into another one: {command}",
        )


def check_data_set(site: Site, session: MonitorSession, data_set: str, findings: Findings) -> None:
    """Compare the releases of cluster and client with those that the data set was measured with."""
    now = versions(session, "rbd")
    for sentence in unknown_releases(now):
        findings.add("releases", "note", sentence)
    folder = benchmarks_directory() / data_set
    try:
        refuse_other_releases(site, data_set, experiments_in(folder), now)
    except ConfigurationError as error:
        findings.add("releases", "refused", f"{error.where}: {error.what}: {error.next_step}")


def other_releases(data_set: str, experiments: Iterable[str], now: Versions) -> list[ReleaseChange]:
    """Return which releases differ from those that the data set was measured with; empty if none does."""
    measured = [_of_campaign(benchmarks_directory() / data_set)]
    measured += [
        versions_then for name in experiments for versions_then in History(raw_directory(data_set, name)).versions()
    ]
    return next(filter(None, (changes(versions_then, now) for versions_then in measured)), [])


def _of_campaign(folder: Path) -> Versions:
    """Return the versions noted when the data set was started. Replay 0.1.0 noted only monitors and client."""
    campaign = read_campaign(folder)
    setup = campaign.get("setup") or {}
    monitors = [version] if (version := setup.get("ceph_version")) else None
    return campaign.get("versions") or {"mon": monitors, "librbd": setup.get("librbd_version")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the answer; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m replay.preflight.releases", description=__doc__)
    parser.add_argument("wanted", help="the data set to measure into, if its release allows it")
    parser.add_argument("experiment", help="what will be measured")
    options = parser.parse_args(arguments)

    def answer() -> int:
        name, reason = own_data_set(options.wanted, options.experiment, sandbox_version())
        print(json.dumps({"data_set": name, "reason": reason}, ensure_ascii=False))
        return 0

    return guarded(answer, "nothing was changed")


def own_data_set(wanted: str, experiment: str, version: str) -> tuple[str, str | None]:
    """Return the data set that a sandbox of this version of Ceph measures into, and why it is not the wanted one."""
    now = {"librbd": version, **{daemon: [version] for daemon in DAEMONS}}
    if not (changed := other_releases(wanted, [experiment], now)):
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


if __name__ == "__main__":
    sys.exit(main())
