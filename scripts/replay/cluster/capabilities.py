"""Which of an experiment's requirements a site meets: allowed by its file, and possible here."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from replay.base.errors import RefusedError
from replay.cluster import sandbox_record

if TYPE_CHECKING:
    from replay.cluster.site import Site

WORDS = (
    "pool_create", "pool_delete", "second_site", "crush", "osd_config", "daemon_stop", "host_root", "kernel_rbd",
    "client_hosts",
)  # fmt: skip
#: These change how a cluster places or throttles everybody's data, or whether it answers at all.
OWN_CLUSTER_ONLY = frozenset({"crush", "osd_config", "daemon_stop"})
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


def missing(requires: Iterable[str], site: Site) -> list[tuple[str, str]]:
    """Return (word, why) for each required word that the site lacks, in the given order."""
    return [(word, why) for word in dict.fromkeys(requires) if (why := _why_missing(word, site))]


def require(site: Site, word: str, fsid: str) -> None:
    """Raise RefusedError unless `word` may be used on the live cluster `fsid` (from its monitors).

    Code that changes weights, affinity or a daemon's configuration, or stops daemons, calls this right before it acts:
    for those, a site file or a ceph.conf is not enough to identify the cluster.
    """
    why = _why_missing(word, site)
    if why is None and word in OWN_CLUSTER_ONLY and not sandbox_record.owns_fsid(fsid):
        why = f"the cluster {fsid} was not started by Replay"
    if why is not None:
        raise RefusedError(f"{word} is refused: {why}", where=f"site {site.name}")


def _why_missing(word: str, site: Site) -> str | None:
    if word not in WORDS:
        return f"{word!r} is not one of the words that a site can allow ({', '.join(WORDS)})"
    if word in OWN_CLUSTER_ONLY and not (site.fsid and sandbox_record.owns_fsid(site.fsid)):
        return "refused on a cluster that Replay did not start, whatever its file allows"
    if word not in site.allows:
        return "the site's file does not allow it"
    return next((why for possible, why in _CONDITIONS.get(word, ()) if not possible(site)), None)


@cache
def _kernel_has_rbd() -> bool:
    if Path("/sys/bus/rbd").exists():
        return True
    modprobe = shutil.which("modprobe", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if modprobe is None:
        return False
    done = subprocess.run([modprobe, "--dry-run", "--quiet", "rbd"], capture_output=True, timeout=10, check=False)
    return done.returncode == 0


def _is_root(_: Site) -> bool:
    return os.geteuid() == 0


_NO_ROOT = "this process does not run as root"
_CONDITIONS: dict[str, tuple[tuple[Callable[[Site], bool], str], ...]] = {
    "second_site": ((lambda site: site.second_site is not None, "the site's file names no second cluster"),),
    "client_hosts": (
        (lambda site: bool(site.client_hosts), "the site's file names no client hosts"),
        (
            lambda site: set(site.client_hosts) <= LOCAL_HOSTS or shutil.which("ssh") is not None,
            "it names other hosts than localhost, and the program ssh is not installed",
        ),
    ),
    "host_root": ((_is_root, _NO_ROOT),),
    "kernel_rbd": (
        (_is_root, _NO_ROOT),
        (lambda _: _kernel_has_rbd(), "this machine's kernel has no rbd module"),
    ),
}
