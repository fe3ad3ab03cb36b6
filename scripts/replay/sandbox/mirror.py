"""Mirroring from `left` to `right`: pools, peer, and the daemon's working directory."""

from __future__ import annotations

from replay.cluster.sandbox_record import Layout, SandboxError
from replay.sandbox import conf, daemons
from replay.sandbox.tools import Interrupt, rbd


def connect(layout: Layout, interrupt: Interrupt) -> None:
    """Make `right` replay from `left`, start rbd-mirror and wait until it is connected.

    Mirroring is enabled per image; the peer is one-way (rx-only): `right` receives, `left` runs no daemon.
    """
    for name in ("left", "right"):
        rbd(layout, name, "mirror", "pool", "enable", conf.POOL, "image", "--site-name", name)
    token = rbd(layout, "left", "mirror", "pool", "peer", "bootstrap", "create", conf.POOL).strip()
    if not token:
        raise SandboxError(
            "the command printed no bootstrap token", where="rbd mirror pool peer bootstrap create (left)"
        )
    token_file = layout.cluster("right") / "bootstrap-token"
    token_file.touch(mode=0o600)
    try:
        token_file.write_text(token + "\n", encoding="utf-8")
        given = ["--direction", "rx-only", conf.POOL, str(token_file)]
        rbd(layout, "right", "mirror", "pool", "peer", "bootstrap", "import", *given)
    finally:
        token_file.unlink()
    prepare_work_directory(layout)
    daemons.start(layout, daemons.MIRROR)
    daemons.await_ready(layout, daemons.MIRROR, interrupt)


def prepare_work_directory(layout: Layout) -> None:
    """Make the folder in which rbd-mirror runs.

    For each cluster the daemon reads `NAME.conf` in its working directory: `right.conf` is that of the local cluster,
    `left.conf` contains only the paths of the log and the socket of that connection.
    """
    work = layout.mirror_work
    work.mkdir(exist_ok=True)
    link = work / "right.conf"
    link.unlink(missing_ok=True)
    link.symlink_to(layout.conf("right"))
    (work / "left.conf").write_text(conf.render_peer(layout), encoding="utf-8")
