"""Whether a data set may continue with the present releases of cluster and client: it never mixes two releases."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.base.invocation import replay_command
from replay.base.paths import benchmarks_directory
from replay.cluster.session import MonitorSession, versions
from replay.cluster.site import Site
from replay.evidence.copies import read_campaign
from replay.evidence.history import History
from replay.evidence.layout import experiments_in
from replay.evidence.versions import CLIENT, Change, Versions, changes, in_words, unknown_releases
from replay.preflight.findings import Findings
from replay.preflight.plan import raw_directory


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
        command = replay_command("measure", "--site", site.name, "--data", name_for(data_set, changed))
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


def other_releases(data_set: str, experiments: Iterable[str], now: Versions) -> list[Change]:
    """Return which releases differ from those that the data set was measured with; empty if none does."""
    measured = [_of_campaign(benchmarks_directory() / data_set)]
    measured += [one for name in experiments for one in History(raw_directory(data_set, name)).versions()]
    return next(filter(None, (changes(one, now) for one in measured)), [])


def name_for(data_set: str, changed: list[Change]) -> str:
    """Return a name for a new data set that states its release, such as `mine-18` or `mine-client-16`."""
    first = changed[0]
    words = [data_set, CLIENT if first.what == CLIENT else "", *map(str, sorted(first.now))]
    return "-".join(filter(None, words))


def _of_campaign(folder: Path) -> Versions:
    """Return the versions noted when the data set was started. Old data sets noted only monitors and client."""
    campaign = read_campaign(folder)
    setup = campaign.get("setup") or {}
    monitors = [version] if (version := setup.get("ceph_version")) else None
    return campaign.get("versions") or {"mon": monitors, "librbd": setup.get("librbd_version")}
