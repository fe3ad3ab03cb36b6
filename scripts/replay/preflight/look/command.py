"""`replay look`: asks up to two clusters for a minute, prints what they say and what could be measured.

It writes a site's file if asked.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from replay.base.disk import size_text
from replay.base.errors import ConfigurationError, ReplayError
from replay.base.paths import config_directory, replay_command, shown
from replay.base.programs import HOST_PROGRAMS, Programs
from replay.base.terminal import waiting
from replay.cluster.admin_commands import ADMINISTRATOR
from replay.cluster.cluster import Cluster, why_unreadable
from replay.cluster.site import Ceilings, Pool, Pools, SecondSite, Site
from replay.cluster.site_file import load_site
from replay.design.configuration import experiment_names
from replay.design.design import Design
from replay.design.sizing import PoolCopies, RemainingWork, Terms, reckon
from replay.preflight.look.asking import FIRST, SECOND, WATCHES_UNTIL_SECONDS, Seen, look
from replay.preflight.look.clusters import Section, SectionRow, commit_seconds, outliers, show
from replay.preflight.look.page import POOL, copies_of_site, page
from replay.preflight.plan import design_for
from replay.sandbox.tools import columns

#: A user who can be asked all of it, and can change nothing.
READER = "ceph auth get-or-create client.look mon 'allow r' osd 'profile rbd-read-only' mgr 'allow r'"
CLIENT = "client.replay"
#: A run may write this many times what all experiments are reckoned to write at the scale `quick`.
SPARE = 2
SCALES = ("quick", "talk")
#: The designs of every experiment on a site, by experiment and scale.
Designs = Mapping[str, Mapping[str, Design]]
_GIBIBYTE = 1 << 30
_TITLE = "What Replay could measure here"


def run(options: argparse.Namespace) -> int:
    """Look, and print; return 0, or 1 if something could not be seen. Raises ReplayError if no cluster answers."""
    if options.sandbox and (options.second or options.write_site):
        raise ConfigurationError(
            "--sandbox goes with neither --second nor --write-site",
            next_step="a sandbox brings its second cluster, and config/sites/sandbox.yaml is its file",
        )
    path = _path_of(options.write_site) if options.write_site else None
    site = load_site("sandbox") if options.sandbox else site_of(options)
    for cluster in filter(None, (site.primary, site.secondary)):
        check_readable(cluster)
    with waiting("reading config/experiments"):
        possible = designs_on(site)
    print(f"Reading only. This takes {WATCHES_UNTIL_SECONDS:.0f} s, because OSDs are watched.", flush=True)
    seen = look(site)
    show(page(seen, offer_section(site, seen, possible), now=time.time()), sys.stdout)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(_site_text(path.stem, site, seen, possible))
        load_site(path.stem, check_files=False)  # a file that cannot be read back is no use
        print(f"\nwrote {shown(path)}")
    print(f"\nnext: {_next(options, path, seen)}")
    return 1 if seen.silent or seen.unanswered else 0


def site_of(options: argparse.Namespace) -> Site:
    """Return the site that the options describe. It allows what needs no word, and the second cluster if there is one.

    Raises ReplayError if the client's release is not on this machine.
    """
    programs = HOST_PROGRAMS if options.client_release is None else Programs.of(options.client_release)

    def cluster(conf: Path, keyring: Path | None, name: str) -> Cluster:
        beside = conf.with_name(f"{conf.stem}.{options.client}.keyring")
        # Not `exists`, which fails in a folder that this user may not enter.
        keyring = keyring or (beside if os.access(beside, os.F_OK) else None)
        return Cluster(conf, options.client, keyring, name, programs)

    second = None
    if options.second is not None:
        second = SecondSite(cluster(options.second, None, SECOND))
    return Site(
        name="look",
        label="look",
        limitation="",
        primary=cluster(options.conf, options.keyring, FIRST),
        pools=Pools(Pool(POOL)),
        allows=frozenset({"second_site"} if second else ()),
        second_site=second,
    )


def check_readable(cluster: Cluster) -> None:
    """Raise ReplayError if a file of the cluster cannot be read: Ceph would call that an I/O error."""
    for path in filter(None, (cluster.conf, cluster.keyring)):
        if why := why_unreadable(path):
            ask = f"ask as somebody who may read it, or have an administrator make a user that only reads: {READER}"
            raise ReplayError(
                f"{why}; no cluster was asked",
                where=path,
                next_step=ask if path == cluster.keyring else "name the cluster's ceph.conf: --conf FILE",
            )


def _next(options: argparse.Namespace, path: Path | None, seen: Seen) -> str:
    if path is not None:
        return replay_command("preflight", "--site", path.stem)
    if seen.unanswered:
        return f"ask an administrator for a user that only reads, and look again as that one: {READER}"
    if options.sandbox:
        return replay_command("sandbox", "up") if seen.silent else replay_command("measure", "--site", "sandbox")
    if seen.silent:
        return f"from a host of the second site: ceph --conf {options.second} --connect-timeout 5 -s"
    return f"{_again(options, '--write-site', 'NAME')} also writes config/sites/NAME.yaml, with limits"


def _again(options: argparse.Namespace, *more: str) -> str:
    """Return the command line of this look, with more words."""
    given = {
        "--conf": options.conf,
        "--client": options.client if options.client != ADMINISTRATOR else None,
        "--keyring": options.keyring,
        "--second": options.second,
        "--client-release": options.client_release,
    }
    words = [word for name, value in given.items() if value is not None for word in (name, str(value))]
    return replay_command("look", *words, *more)


# What could be measured -----------------------------------------------------------------------------------------------


def designs_on(site: Site) -> Designs:
    """Return the designs of config/experiments on a site; none outside a project.

    Raises ConfigurationError if a file there is wrong.
    """
    try:
        config_directory()
    except ConfigurationError:
        return {}
    designs = defaultdict(dict)
    for scale in SCALES:
        for name in experiment_names(scale):
            designs[name][scale] = design_for(site, name, scale)
    return dict(sorted(designs.items()))


def estimates_of(experiments: Designs, copies: PoolCopies) -> dict[str, dict[str, RemainingWork]]:
    """Return the estimates of the experiments that are possible, by experiment and scale: nothing measured yet."""
    terms = Terms(copies)
    return {
        name: {scale: reckon(design, [design.sets] * design.blocks, (), terms) for scale, design in designs.items()}
        for name, designs in experiments.items()
        if any(design.sets for design in designs.values())
    }


def _impossible(experiments: Designs) -> dict[str, list[str]]:
    """Return the experiments that are not possible at all, by what is missing first."""
    reasons = defaultdict(list)
    for name, designs in experiments.items():
        skipped = [skip for design in designs.values() for skip in design.skipped]
        if skipped and not any(design.sets for design in designs.values()):
            reasons[f"{skipped[0].requires}: {skipped[0].detail}"].append(name)
    return reasons


def total_at(estimates: Mapping[str, Mapping[str, RemainingWork]], scale: str) -> RemainingWork:
    return sum((each[scale] for each in estimates.values() if scale in each), RemainingWork())


def offer_section(site: Site, seen: Seen, experiments: Designs) -> Section:
    """Return what could be measured, in hours and bytes, by the titles of the experiments."""
    if not experiments:
        text = f"not known here, because this folder is no project: {replay_command('init')} makes one"
        return Section(_TITLE, [SectionRow("", text)])
    copies, pool = copies_of_site(site, seen.first)
    estimates = estimates_of(experiments, copies)
    table = [["--experiment", *(head for scale in SCALES for head in (scale, "client", "media"))]]
    table += [[f"  {name}", *_cells(each)] for name, each in estimates.items()]
    if len(estimates) > 1:
        table.append(["all of it", *_cells({scale: total_at(estimates, scale) for scale in SCALES})])
    lines = columns(table, right=range(1, len(table[0])))
    rows = [SectionRow("", lines[0])]
    for name, line in zip(estimates, lines[1:], strict=False):
        rows += [SectionRow("", _title_of(experiments[name])), SectionRow("", line)]
    rows += [SectionRow("", line) for line in lines[1 + len(estimates) :]]
    by_pool = f"with the {copies.data:g} copies of pool {pool}" if pool else f"with {copies.data:g} copies"
    rows.append(
        SectionRow("", f"client: GiB that clients write; media: GiB that the first cluster stores of it, {by_pool}")
    )
    rows.append(SectionRow("", "first estimates: a faster cluster writes more in the same time"))
    for why, names in _impossible(experiments).items():
        titles = "; ".join(_title_of(experiments[name]) for name in names)
        rows.append(SectionRow("", f"not here: {titles} ({why})"))
    if slow := outliers(commit_seconds(seen.first.perf)):
        rows.append(SectionRow("", f"a run now would price the disk of osd.{slow[0]}", stands_out=True))
    return Section(_TITLE, rows)


def _title_of(designs: Mapping[str, Design]) -> str:
    return str(next(iter(designs.values())).configuration["title"])


def _cells(estimates: Mapping[str, RemainingWork]) -> list[str]:
    cells = []
    for scale in SCALES:
        if (figures := estimates.get(scale)) is None:
            cells += [""] * 3
        else:
            sizes = [size / _GIBIBYTE for size in (figures.client_bytes, figures.media_bytes)]
            shown = [f"{size:,.1f}" if size < 10 else f"{size:,.0f}" for size in sizes]
            cells += [_time_text(figures.seconds), *shown]
    return cells


def _time_text(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"


# The site's file ------------------------------------------------------------------------------------------------------


def _path_of(name: str) -> Path:
    """Return where the file of a site belongs. Raises ConfigurationError if there is one."""
    path = config_directory() / "sites" / f"{name}.yaml"
    if path.exists():
        raise ConfigurationError(
            "this site's file exists, and nothing was written", where=path, next_step="choose another name"
        )
    return path


def _site_text(name: str, site: Site, seen: Seen, possible: Designs) -> str:
    copies, pool = copies_of_site(site, seen.first)
    seconds = commit_seconds(seen.first.perf)
    slowest = max(seconds, key=lambda osd: seconds[osd], default=None)
    slow = "not visible" if slowest is None else f"osd.{slowest} with {seconds[slowest] * 1e3:.3g} ms a commit"
    number = seen.first.status["osdmap"]["num_osds"]
    osds = f"{number} OSDs, {copies.data:g} copies" if pool else f"{number} OSDs"
    most = round(SPARE * total_at(estimates_of(possible, copies), "quick").media_bytes)
    lines = [
        f"# Written by `replay look` on {datetime.now(UTC).date().isoformat()}. Read it before you use it.",
        f"# docs/your-own-cluster.md explains every key. Then: replay preflight --site {name}",
        f"name: {name}",
        f"label: {json.dumps(f'Cluster {name}')}",
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
    lines += [
        "ceilings:",
        f"  # {SPARE} times what all experiments here are reckoned to write to media at the scale quick.",
        f"  bytes_written_to_media_per_run: {most} # {size_text(most)}",
        f"  fullest_osd_fraction: {Ceilings().fullest_osd_fraction}",
        f"  # When this was written, the slowest OSD was {slow}. A run ends if one is slower than this:",
        "  # tenant_latency_seconds: 0.05",
        f"allows: [{'second_site' if site.second_site is not None else ''}]",
    ]
    return "\n".join(lines) + "\n"


def _cluster(cluster: Cluster) -> list[str]:
    conf = cluster.conf.absolute()
    keyring = conf.with_name(f"{conf.stem}.{CLIENT}.keyring")
    return [f"  conf: {json.dumps(str(conf))}", f"  client: {CLIENT}", f"  keyring: {json.dumps(str(keyring))}"]
