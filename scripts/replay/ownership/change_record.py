"""The ledger as a change record: what Replay made on a site's clusters and removed again, and when. Asks no cluster."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TextIO

from replay.base.errors import ConfigurationError
from replay.cluster.cluster import Cluster
from replay.cluster.site import Site
from replay.cluster.site_file import fsid_in
from replay.ownership.ledger import Ledger

COLUMNS = ("cluster", "kind", "name", "data_set", "entered_at", "made_at", "removed_at", "state")
#: By whether its making was confirmed, and whether it was removed. A lock, for example, is never confirmed.
_STATES = {
    (True, False): "there",
    (True, True): "removed",
    (False, False): "perhaps there",
    (False, True): "removed, or never made",
}


def write_change_record(site: Site, out: TextIO, *, data_set: str | None = None) -> None:
    """Write a CSV row for everything that the ledgers have of a site, or of one of its data sets, oldest first.

    Times are UTC. `made_at` is empty if nothing confirms that the thing was made. Raises ConfigurationError if a
    ceph.conf does not say which cluster it is for, and EvidenceError if a ledger has an invalid line.
    """
    rows = sorted(
        (row for cluster in (site.primary, site.secondary) if cluster for row in _rows(site, cluster, data_set)),
        key=lambda row: row[4],
    )
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)


def _rows(site: Site, cluster: Cluster, data_set: str | None) -> Iterator[tuple[str, ...]]:
    fsid = site.fsid if cluster is site.primary else fsid_in(cluster.conf)
    if fsid is None:
        raise ConfigurationError(
            "it does not say which cluster it is for, and the ledger's name is the cluster's fsid",
            where=cluster.conf,
            next_step="add the line `fsid = …`, as `ceph fsid` prints it",
        )
    for one in Ledger(fsid).history():
        entry = one.entry
        if entry.site != site.name or data_set not in (None, entry.data_set):
            continue
        name = entry.details.get("final_name", entry.spec)
        times = (entry.intended_at, one.confirmed_at, one.removed_at)
        yield (fsid, entry.kind, name, entry.data_set, *times, _STATES[entry.confirmed, bool(one.removed_at)])
