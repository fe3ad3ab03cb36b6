"""Samples an image or its copy: how large the journal is, or which snapshots are complete in the copy.

Run by the system's Python, because the `rados` and `rbd` modules come with Ceph's packages. One connection stays open,
so a sample costs milliseconds. Each start of the `rbd` program would cost more.

    argv    SPEC
    SPEC    JSON with origin (a reading of the monotonic clock), every_seconds, and one of
            journal: {entity, image_id, cluster}    where the image is
            copy:    {entity, image, cluster}       where its copy is
            cluster is {conf, client, keyring, pool}
    stdout  `elapsed_seconds,entity,metric,value`, one row a line; ends when stdin ends

Metrics: `journal_bytes` and `journal_objects`, of the existing data objects; `journal_minimum_set` and
`journal_active_set`, by the journal's header; `copied_snapshot_id`, the newest mirror snapshot that is
complete in the copy, by its id on the first cluster (0: none); `probe,cost_seconds`, the CPU time so far.
"""

from __future__ import annotations

import json
import sys
import threading
import time

HEADER_KEYS = ("splay_width", "pool_id", "minimum_set", "active_set")


def header_of(values):
    """Return the fields of a journal's header object, from its omap (cls_journal_types)."""
    return {name: int.from_bytes(values[name], "little", signed=name == "pool_id") for name in HEADER_KEYS}


def data_objects(header):
    """Return the numbers that data objects can have: those of the sets from the oldest to the active one."""
    width = header["splay_width"]
    return range(header["minimum_set"] * width, (header["active_set"] + 1) * width)


def newest_complete(snapshots):
    """Return the newest complete mirror snapshot in a copy, by its id on the first cluster; 0 if there is none."""
    mirrored = [snapshot["mirror"] for snapshot in snapshots if "mirror" in snapshot]
    return max((snapshot["primary_snap_id"] for snapshot in mirrored if snapshot["complete"]), default=0)


def _connect(cluster):
    import rados  # noqa: PLC0415 (only the child has the module)

    options = {"keyring": cluster["keyring"]} if cluster["keyring"] else {}
    handle = rados.Rados(name=cluster["client"], conffile=cluster["conf"], conf=options)
    handle.connect(timeout=30)
    return handle, handle.open_ioctx(cluster["pool"])


class Journal:
    """The journal of one image."""

    def __init__(self, spec):
        self.entity, self.image_id = spec["entity"], spec["image_id"]
        self.cluster, self.pool = _connect(spec["cluster"])
        self.data_pool = None
        self.prefix = f"journal_data.{self.pool.get_pool_id()}.{self.image_id}."

    def look(self):
        """Return its metrics now."""
        import rados  # noqa: PLC0415

        with rados.ReadOpCtx() as operation:
            values, _ = self.pool.get_omap_vals_by_keys(operation, HEADER_KEYS)
            self.pool.operate_read_op(operation, f"journal.{self.image_id}")
            header = header_of(dict(values))
        if self.data_pool is None:
            at = header["pool_id"]
            self.data_pool = self.pool if at < 0 else self.cluster.open_ioctx2(at)
        sizes = []
        for number in data_objects(header):
            try:
                sizes.append(self.data_pool.stat(f"{self.prefix}{number}")[0])
            except rados.ObjectNotFound:  # not begun yet, or removed since the header was read
                continue
        return {
            "journal_bytes": sum(sizes),
            "journal_objects": len(sizes),
            "journal_minimum_set": header["minimum_set"],
            "journal_active_set": header["active_set"],
        }


class Copy:
    """The copy of one image on the second cluster."""

    def __init__(self, spec):
        self.entity, self.image = spec["entity"], spec["image"]
        _, self.pool = _connect(spec["cluster"])

    def look(self):
        """Return its metrics now. Opens the image each time, because an open image does not see new snapshots."""
        import rbd  # noqa: PLC0415

        with rbd.Image(self.pool, self.image, read_only=True) as image:
            return {"copied_snapshot_id": newest_complete(list(image.list_snaps()))}


def watch(spec):
    """Take samples at the interval until stdin ends."""
    stop = threading.Event()

    def watch_stdin():
        sys.stdin.read()
        stop.set()

    place = Journal(spec["journal"]) if "journal" in spec else Copy(spec["copy"])
    threading.Thread(target=watch_stdin, daemon=True).start()
    while True:
        metrics = place.look()
        at = time.monotonic() - spec["origin"]
        for metric, value in metrics.items():
            print(f"{at:.6f},{place.entity},{metric},{value}")
        print(f"{time.monotonic() - spec['origin']:.6f},probe,cost_seconds,{time.process_time():.4f}", flush=True)
        if stop.wait(spec["every_seconds"]):
            return


def main():
    """Run the program; print errors in one line."""
    try:
        watch(json.loads(sys.argv[1]))
    except ImportError as error:
        print(f"{error}: install the packages python3-rados and python3-rbd", file=sys.stderr)
        return 1
    except Exception as error:  # the errors of rados and rbd have no other class in common
        print(f"replica probe: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
