"""Clusters that Replay did not start: a site's file, users with the rights that preflight asks for, and neighbours."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

from replay.cluster import admin_commands
from replay.cluster.cluster import Cluster
from replay.cluster.mirroring import POLL_AGE
from replay.cluster.site_file import load_site
from replay.ownership.pools import await_clean
from replay.sandbox import Sandbox, load
from support.administrator import make_user, paste, session_of, site_text, tell
from support.campaign import Campaign

NAME = "foreign"
#: The restricted user, and images of others whose names are like those that Replay makes.
USER = "client.replay"
NEIGHBOURS = (
    "replay2/replay-0a1b2c3d-with-journal",
    "replay/replay-0a1b2c3d-with-journal",
    "replay/replay",
    "replay/replay-1",
)


@contextlib.contextmanager
def neighbours(left: Cluster, right: Cluster, folder: Path) -> Iterator[None]:
    """Have the restricted user on both clusters, its keyrings in `folder`, and on the first one neighbours' things.

    These are a pool, images, a user, a configuration and a key. The images are gone at the end: a sandbox that tests
    share has none.
    """
    for name, cluster in (("left", left), ("right", right)):
        mon = "profile rbd" if name == "left" else f'profile rbd, allow command "config get" with key={POLL_AGE}'
        capabilities = ("mon", mon, "osd", "profile rbd pool=replay", "mgr", "profile rbd pool=replay")
        (folder / name).write_text(make_user(cluster, USER, *capabilities))
        (folder / name).chmod(0o600)
    make_user(left, "client.replay2", "mon", "profile rbd")
    tell(left, "osd pool create", pool="replay2", pg_num=8)
    left.run("rbd", "pool", "init", "replay2")
    tell(left, "config set", who="client.replay2", name="rbd_cache", value="false")
    tell(left, "config-key set", key="replay/neighbour", val="here")
    for spec in NEIGHBOURS:
        left.run("rbd", "create", "--size", "16M", "--image-feature", "layering", spec)
    await_clean(session_of(left), ["replay2"])
    yield
    for spec in NEIGHBOURS:
        left.run("rbd", "rm", "--no-progress", spec)


def foreign_site(sandbox: Sandbox, folder: Path, user: str, more: Sequence[str]) -> str:
    """Return the text of a site's file for both clusters of a sandbox, with `more` lines, and make its users.

    They are made by the commands that preflight prints for the site. `folder` gets their keyrings.
    """
    (folder / "sites").mkdir()
    text = site_text(sandbox, NAME, user, folder, *more)
    (folder / "sites" / f"{NAME}.yaml").write_text(text)
    with mock.patch.dict(os.environ, {"REPLAY_CONFIG": str(folder)}):
        named = load_site(NAME, check_files=False)
    paste(sandbox, folder, (*admin_commands.user(named), *admin_commands.second_user(named)))
    return text


def measure_as_foreign(campaign: Campaign, text: str) -> None:
    """Have a campaign measure that site from now on, with code that sees no sandbox.

    The file names the mirror daemon's admin socket as it is now: a daemon that is started again has another one.
    """
    mirror = load(campaign.sandbox_directory).mirror
    assert mirror is not None, "the clusters are mirrored"
    text = re.sub(r"(mirror_daemon_admin_socket: ).*", rf"\g<1>{mirror.asok}", text)
    sites = campaign.folder / "config" / "sites"
    sites.mkdir(parents=True, exist_ok=True)
    (sites / f"{NAME}.yaml").write_text(text)
    campaign.site = NAME
    campaign.sandbox_directory_seen = campaign.folder / "no-sandbox-here"
