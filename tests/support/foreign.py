"""Clusters that Replay did not start: a site's file, and users with the rights that preflight asks for."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from replay.cluster import admin_commands
from replay.cluster.site_file import load_site
from replay.sandbox import Sandbox, load
from support.administrator import paste, site_text
from support.campaign import Campaign

NAME = "foreign"


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
