"""How many copies a site's pools keep, for estimates. Read-only."""

from __future__ import annotations

from contextlib import closing

from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site
from replay.design.media import PoolCopies
from replay.ownership.write_budget import Copies

#: An estimate is not worth a longer wait; whatever needs the cluster next says why it does not answer.
CONNECT_WITHIN_SECONDS = 5.0


def copies_on(site: Site, session: MonitorSession | None = None) -> PoolCopies:
    """Ask the site's cluster, through a session if there is one; three copies are assumed if it does not answer."""
    try:
        if session is not None:
            return Copies(site, session).of_site()
        with closing(MonitorSession(site.primary, connect_timeout_seconds=CONNECT_WITHIN_SECONDS)) as opened:
            return Copies(site, opened).of_site()
    except CephCommandError:
        return PoolCopies()
