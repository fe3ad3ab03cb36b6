"""Which programs this machine needs for the experiments of a site, as their procedures declare them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from replay.base.errors import ReplayError
from replay.base.programs import Programs
from replay.cluster.site import LOCAL_HOSTS, Site, missing
from replay.design.procedures import needs_of, protocol_names
from replay.preflight.findings import Findings

#: Debian's packages of programs that are not in ceph-common.
_PACKAGES = {
    "fio": "fio",
    "iperf3": "iperf3",
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
    found: dict[str, list[str]] = {program: [] for program in _ALWAYS}
    elsewhere = not set(site.client_hosts) <= LOCAL_HOSTS and not missing(["client_hosts"], site)
    for each in experiments:
        if each.get("protocol") not in protocol_names() or missing(each.get("requires", ()), site):
            continue
        needs = needs_of(each["protocol"])
        for program in (*needs.programs, *(needs.programs_elsewhere if elsewhere else ())):
            found.setdefault(program, []).append(str(each["name"]))
    return found


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
    for program, names in sorted(wanted.items()):
        if programs.find(program) is None:
            level = "refused" if program in _ALWAYS else "warning"
            text = f"{program} is not installed" + (f"; needed by {', '.join(names)}" if names else "")
            findings.add("tools", level, text, commands=[f"apt-get install {_PACKAGES.get(program, 'ceph-common')}"])
    if "fio" in wanted and programs.find("fio") and not _fio_has_rbd(programs):
        findings.add("tools", "warning", "this fio has no rbd engine: experiments that use it will fail")
    findings.add("tools", "ok", f"checked: {', '.join(sorted(wanted))}")


def _fio_has_rbd(programs: Programs) -> bool:
    done = subprocess.run(programs.command(["fio", "--enghelp=rbd"]), capture_output=True, timeout=30, check=False)
    return done.returncode == 0
