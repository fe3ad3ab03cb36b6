"""Checks what is beside the clusters: programs of this machine, client hosts, Prometheus. Changes nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from replay.base.clock import Costs
from replay.base.errors import ReplayError
from replay.base.programs import Programs
from replay.cluster.admin_commands import install
from replay.cluster.fio_clients import ask_versions, check_versions, versions_here
from replay.cluster.hosts import CPU, HostSampler
from replay.cluster.prometheus import PrometheusClient, PrometheusError, Series
from replay.cluster.site import LOCAL_HOSTS, Site, missing
from replay.design.configuration import claims_that_presuppose
from replay.design.needs import needs_of
from replay.evidence.record import FACTS_OF_MACHINES
from replay.preflight.checks import Findings
from replay.tools import Tool, find_reader, tools

#: Debian's packages of programs, besides those of the tools, that are not in ceph-common.
_PACKAGES = {
    "ssh": "openssh-client",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mount": "mount",
    "timeout": "coreutils",
}
#: Without these nothing can be measured at all.
_ALWAYS = ("ceph", "rbd")


def programs_of(experiments: Iterable[Mapping[str, Any]], site: Site) -> dict[str, list[str]]:
    """Return the experiments that need each program. An experiment that cannot run on the site needs none."""
    needed: dict[str, list[str]] = {program: [] for program in _ALWAYS}
    elsewhere = not set(site.client_hosts) <= LOCAL_HOSTS and not missing(["client_hosts"], site)
    for each in experiments:
        if missing(each.get("requires", ()), site):
            continue
        needs = needs_of(each["protocol"])
        tool = None if needs.tools else find_reader(str(each["tool"]))
        own = [tool.program] if isinstance(tool, Tool) else []
        for program in dict.fromkeys((*needs.programs, *own, *(needs.programs_elsewhere if elsewhere else ()))):
            needed.setdefault(program, []).append(str(each["name"]))
    return needed


def check_release(site: Site, findings: Findings) -> bool:
    """Check that the programs of the site's release can be run; return False if not: no cluster can be asked then."""
    try:
        site.primary.programs.check()
    except ReplayError as error:
        where = f"{error.where}: " if error.where else ""
        findings.add("tools", "refused", f"{where}{error.what}: {error.next_step}")
        return False
    return True


def check_programs(experiments: Iterable[Mapping[str, Any]], site: Site, findings: Findings) -> None:
    """Check that the programs of the experiments are installed, and that fio has its rbd engine."""
    wanted, programs = programs_of(experiments, site), site.primary.programs
    package_of = {tool.program: tool.package for tool in tools()} | _PACKAGES
    for program, names in sorted(wanted.items()):
        if programs.find(program) is None:
            level = "refused" if program in _ALWAYS else "warning"
            text = f"{program} is not installed" + (f"; needed by {', '.join(names)}" if names else "")
            package = package_of.get(program, "ceph-common")
            findings.add("tools", level, text, commands=[install(package)] if package else [])
    if "fio" in wanted and programs.find("fio") and not _fio_has_rbd(programs):
        findings.add("tools", "warning", "this fio has no rbd engine: experiments that use it will fail")
    findings.add("tools", "ok", f"checked: {', '.join(sorted(wanted))}")


def _fio_has_rbd(programs: Programs) -> bool:
    done = subprocess.run(programs.command(["fio", "--enghelp=rbd"]), capture_output=True, timeout=30, check=False)
    return done.returncode == 0


def check_client_hosts(site: Site, findings: Findings) -> None:
    """Add a finding for each host that needs SSH. If one cannot run clients, the site loses `client_hosts`."""
    others = [host for host in site.client_hosts if host not in LOCAL_HOSTS]
    if not others or missing(["client_hosts"], site):
        return
    own = versions_here(site.primary.programs)
    for host in others:
        try:
            check_versions(own, {host: ask_versions(host)})
        except ReplayError as error:
            text = "; ".join(filter(None, (f"{error.where} cannot run clients: {error.what}", error.next_step)))
            findings.add("clients", "skip", text, word="client_hosts")
        else:
            findings.add("clients", "ok", f"client host {host} answers, with {own.fio} and librbd {own.librbd}")


#: How far back scrapes are looked at, to find how often there is one.
LOOK_BACK_SECONDS = 180
#: Cells that publish latency last this long at talk scale.
CELL_SECONDS = 8.0
_LARGEST_OFFSET_SECONDS = 1.0


def check_claims(site: Site, experiments: Iterable[Mapping[str, Any]], findings: Findings) -> None:
    """Warn of the claims that cannot be judged, since nobody sees the machines of the OSDs, and say what changes that.

    A sandbox's are this machine. Raises ConfigurationError if config/claims.yaml is invalid.
    """
    if site.sandbox is not None or site.prometheus is not None:
        return
    possible = {str(each["name"]) for each in experiments if not missing(each.get("requires", ()), site)}
    known = claims_that_presuppose(FACTS_OF_MACHINES)
    by_word: dict[str, list[str]] = {}
    for claim, experiment, decides in known:
        if experiment in possible:
            by_word.setdefault(_CANNOT_BE[decides], []).append(claim)
    if by_word:
        listed = "; ".join(f"{len(claims)} {word}: {', '.join(claims)}" for word, claims in sorted(by_word.items()))
        line = f"`prometheus: {{url: http://HOST:9095}}` in config/sites/{site.name}.yaml"
        text = (
            f"nobody sees the CPU of the OSDs' machines, so of the claims here {listed}. One line changes that: {line}"
        )
        findings.add("claims", "warning", text)


#: What a missing presupposition does to a claim, by the verdict that it decides.
_CANNOT_BE = {"any": "cannot be judged", "refutation": "cannot be refuted", "confirmation": "cannot be held"}


def check_prometheus(site: Site, findings: Findings) -> None:
    """Add findings about the server, if the site names one. Never stops a run."""
    if site.prometheus is None:
        return
    client = PrometheusClient(site.prometheus)
    sampler = HostSampler(client, Costs())
    try:
        ahead = sampler.clock_ahead_seconds()
        places = sampler.places()
        scrapes = client.scrapes(
            f'{CPU}{{mode="idle",cpu="0"}}', end=sampler.clock() + ahead, seconds=LOOK_BACK_SECONDS
        )
    except PrometheusError as error:
        text = f"{error.what}: cells will not show what limited them"
        findings.add("prometheus", "warning", text)
        return
    if abs(ahead) > _LARGEST_OFFSET_SECONDS:
        findings.add(
            "prometheus",
            "note",
            f"its clock differs from this machine's by {ahead:+.1f} s; Replay corrects the samples",
        )
    disks = sum(place.device is not None for place in places.values())
    hosts = len({place.host for place in places.values()})
    complete = disks == len(places) and findings.osds in (None, len(places))
    known = len(places) if findings.osds is None else f"{len(places)} of {findings.osds}"
    text = f"knows {known} OSDs on {hosts} host{'' if hosts == 1 else 's'}, and the disk of {disks}"
    findings.add("prometheus", "ok" if complete else "warning", text)
    interval = scrape_interval(scrapes)
    if interval is None:
        findings.add(
            "prometheus",
            "warning",
            f"no CPU was scraped twice within {LOOK_BACK_SECONDS} s: the scrape interval is unknown",
        )
    elif 2 * interval > CELL_SECONDS:
        text = (
            f"scrapes every {interval:.0f} s: a cell shows what was busy only if it contains two scrapes, and a cell of"
        )
        findings.add("prometheus", "warning", f"{text} {CELL_SECONDS:.0f} s does not; scrape every 2 s while measuring")
    else:
        findings.add("prometheus", "ok", f"scrapes every {interval:.1f} s")


def scrape_interval(series: Sequence[Series]) -> float | None:
    """Return the longest of the series' median intervals in seconds; None if no series has two scrapes."""
    medians = []
    for each in series:
        moments = [moment for moment, _ in each.samples]
        if gaps := [later - earlier for earlier, later in pairwise(moments)]:
            medians.append(median(gaps))
    return max(medians, default=None)
