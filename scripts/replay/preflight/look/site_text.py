"""The site's file that `replay look --write-site` writes: what was looked at, a user of its own, and limits."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.base.invocation import size_text
from replay.base.paths import config_directory
from replay.cluster.cluster import Cluster
from replay.cluster.site import Ceilings, Site
from replay.cluster.site_file import load_site

CLIENT = "client.replay"
#: A run may write this many times what all experiments are reckoned to write at the scale `quick`.
SPARE = 2


def path_of(name: str) -> Path:
    """Return where the file of a site belongs. Raises ConfigurationError if there is one."""
    path = config_directory() / "sites" / f"{name}.yaml"
    if path.exists():
        raise ConfigurationError(
            "this site's file exists, and nothing was written", where=path, next_step="choose another name"
        )
    return path


def write(path: Path, text: str) -> None:
    """Write a site's file, which must not exist, and read it back. Raises ReplayError if that is not possible."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
    load_site(path.stem, check_files=False)


def site_text(name: str, site: Site, *, osds: str, slowest: str, media_bytes: float, today: date) -> str:
    """Return the file's text. `osds` and `slowest` say what was seen, `media_bytes` what `quick` would write."""
    lines = [
        f"# Written by `replay look` on {today.isoformat()}. Read it before you use it.",
        f"# docs/your-own-cluster.md explains every key. Then: replay preflight --site {name}",
        f"name: {name}",
        f"label: {json.dumps(name.capitalize())}",
        f"limitation: {json.dumps(f'{osds}. Others use this cluster too.')}",
        "cluster:",
        *_cluster(site.primary),
        "pools:",
        f"  data: {{ name: {site.pools.data.name} }}",
    ]
    if site.second_site is not None:
        lines += ["second_cluster:", *_cluster(site.second_site.cluster)]
    if (release := site.primary.programs.release) is not None:
        lines.append(f"client_release: {release.number}")
    most = round(SPARE * media_bytes)
    lines += [
        "ceilings:",
        f"  # {SPARE} times what all experiments here are reckoned to write to media at the scale quick.",
        f"  bytes_written_to_media_per_run: {most} # {size_text(most)}",
        f"  fullest_osd_fraction: {Ceilings().fullest_osd_fraction}",
        f"  # When this was written, the slowest OSD was {slowest}. A run ends if one is slower than this:",
        "  # tenant_latency_seconds: 0.05",
        f"  slow_operations: {Ceilings().slow_operations}",
        "  recovery: false",
        f"allows: [{'second_site' if site.second_site is not None else ''}]",
    ]
    return "\n".join(lines) + "\n"


def _cluster(cluster: Cluster) -> list[str]:
    conf = cluster.conf.absolute()
    keyring = conf.with_name(f"{conf.stem}.{CLIENT}.keyring")
    return [f"  conf: {json.dumps(str(conf))}", f"  client: {CLIENT}", f"  keyring: {json.dumps(str(keyring))}"]
