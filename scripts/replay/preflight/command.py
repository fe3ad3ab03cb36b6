"""`replay preflight`: what can be measured on a site, and what an administrator must do first. Read-only."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from textwrap import indent
from typing import Any, TextIO

from rich.text import Text

from replay.base.paths import replay_command
from replay.base.terminal import console_of, print_columns, waiting
from replay.cluster import admin_commands
from replay.cluster.admin_commands import CONF, in_form, of_release
from replay.cluster.cluster import CephCommandError, Cluster, why_unreadable
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site, missing
from replay.cluster.site_file import load_site
from replay.design.configuration import experiment_names, load_experiment
from replay.design.needs import lacking as lacking_to_protocol
from replay.design.sizing import PoolCopies, bytes_at_once
from replay.preflight import checks, pool_checks
from replay.preflight.checks import Findings
from replay.preflight.host_checks import (
    check_claims,
    check_client_hosts,
    check_programs,
    check_prometheus,
    check_release,
)
from replay.preflight.mirroring import check_mirroring
from replay.preflight.plan import copies_on, design_for, estimate, terms_of
from replay.preflight.releases import check_data_set
from replay.preflight.write_probe import write_probe

#: What is said before an administrator's commands.
_TO_DO = (
    "An administrator can paste these commands into a shell on this machine. They create what is missing and change",
    "nothing that exists. If ceph does not find the administrator's key, add --keyring FILE. Then run preflight again.",
)
_MARKS = {"ok": "ok", "note": "note", "warning": "WARN", "skip": "SKIP", "refused": "REFUSED"}
_STYLES = {"ok": "green", "WARN": "yellow", "SKIP": "yellow", "REFUSED": "bold red"}
_HEADING_WIDTH, _MARK_WIDTH = 11, 8


@dataclass(frozen=True)
class Report:
    """The result of a preflight: facts, what each experiment can do here, and what it would cost."""

    site: Site
    findings: Findings
    experiments: list[dict[str, Any]]

    @property
    def exit_status(self) -> int:
        """0 if measuring may start, 4 if it would be refused."""
        return 4 if self.findings.refused else 0

    def public(self) -> dict[str, Any]:
        """Return the report for `--json`."""
        return {
            "schema_version": 1,
            "site": self.site.name,
            "measuring": "refused" if self.findings.refused else "possible",
            "findings": [item.public() for item in self.findings.items],
            "experiments": self.experiments,
            "commands": commands_in(self),
            "undo": undo_in(self),
        }


def preflight(
    site: Site,
    experiments: Iterable[Mapping[str, Any]],
    *,
    scale: str | None = None,
    data_set: str | None = None,
    write: bool = False,
) -> Report:
    """Inspect a site and return the findings; change nothing on it, except by the write probe if `write` asks for it.

    `experiments` are those of config/experiments; at a `scale`, it says what each would take. `data_set`, by default
    the site's name, selects the run. A problem with a cluster is a finding, never an exception.
    Raises EvidenceError if the run's account cannot be read.
    """
    experiments = list(experiments)
    data_set = data_set or site.name
    findings = Findings()
    answers = False
    usable = check_release(site, findings)
    if checks.check_files(site, findings) and usable:
        with closing(MonitorSession(site.primary, connect_timeout_seconds=checks.TIMEOUT_SECONDS)) as session:
            answers = _check_primary(site, session, experiments, findings)
            if answers:
                check_data_set(site, session, data_set, findings)
    if answers and site.secondary is not None:
        _check_secondary(site, site.secondary, findings)
    if write and answers and not findings.refused:
        write_probe(site, findings)
    check_client_hosts(site, findings)
    check_prometheus(site, findings)
    check_claims(site, experiments, findings)
    _risks(site, findings, datetime.now(UTC))
    figures = _figures(site, experiments, scale, data_set, findings.copies) if scale else {}
    rows = [_experiment(site, each, findings.lacking(), figures.get(each["name"], {})) for each in experiments]
    needed = {row["name"]: row["estimate"].get("bytes_at_once", 0.0) for row in rows if not row["missing"]}
    pool_checks.check_room(site, needed, findings)
    pool_checks.check_account(site, data_set, _total(rows).get("bytes_to_media", 0.0), findings)
    return Report(site, findings, rows)


def load_experiments(names: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return these experiments, or without any name all. Raises ConfigurationError if one is unknown or wrong."""
    return [load_experiment(name) for name in dict.fromkeys(names or experiment_names())]


def show(report: Report, stream: TextIO) -> None:
    """Print the report: on a terminal in colours and in its width, except for commands, which are never wrapped."""
    console, site = console_of(stream), report.site
    console.print(f"Site {site.name}: {site.label}\n  {site.limitation}\n", soft_wrap=True)
    print_columns(stream, _rows(report), widths=(_HEADING_WIDTH, _MARK_WIDTH))
    console.print("\n".join(_after_findings(report)), soft_wrap=True)


def _rows(report: Report) -> Iterator[tuple[str, Text, str]]:
    """Yield the heading, mark and text of each finding; findings of one topic share a heading."""
    topic = ""
    for item in report.findings.items:
        heading, topic = ("" if item.topic == topic else item.topic), item.topic
        mark = _MARKS[item.level]
        yield heading, Text(mark, _STYLES.get(mark, "")), item.text


def _after_findings(report: Report) -> list[str]:
    lines = ["", "Experiments"]
    for row in report.experiments:
        lines.append(f"  {row['name']}: {row['title']}")
        if row["missing"]:
            lines += [f"    cannot be measured here: {word}: {why}" for word, why in row["missing"].items()]
            continue
        can = [variant["label"] for variant in row["variants"] if not variant["missing"]]
        lines.append(f"    can be measured: {', '.join(can)}" if can else "    no variant can be measured here")
        for variant in row["variants"]:
            lines += [f"    skipped: {variant['label']}: {word}: {why}" for word, why in variant["missing"].items()]
        if can and row["estimate"]:
            lines.append(f"    {_estimate_text(row['estimate'])}")
    if total := _total(report.experiments):
        lines += ["", f"All of it: {_estimate_text(total)}"]
    if commands := commands_in(report):
        lines += ["", *_TO_DO]
        if (release := report.site.primary.programs.release) is None:
            lines.append("They run this machine's ceph. If the clusters are newer, first name their client_release.")
        elif of_release(report.site):
            lines.append(f"The first three lines have them run with Ceph {release.title}, as the site's file says.")
        lines += [indent(each, "  ") for each in commands]
    if undo := undo_in(report):
        lines += ["", *_to_undo(report.site), *(indent(each, "  ") for each in undo)]
    lines += ["", "Measuring would be REFUSED at the moment." if report.findings.refused else "Measuring may start."]
    return lines


def _to_undo(site: Site) -> list[str]:
    clean = replay_command("clean", "--site", site.name)
    return [
        "To undo them, keep these commands, and run them in this order after",
        f"{clean}. They remove things by name: run only those whose counterpart above made something.",
    ]


def commands_in(report: Report, form: str = CONF) -> list[str]:
    """Return an administrator's commands, in the order in which they are run, in one of their forms."""
    commands = [command for command in report.findings.commands() if form == CONF or not command.is_local]
    return _in_form(report.site, [command.text for command in commands], form)


def undo_in(report: Report, form: str = CONF) -> list[str]:
    """Return what undoes these commands, the last one first."""
    return _in_form(
        report.site, [command.undo for command in reversed(report.findings.commands()) if command.undo], form
    )


def _in_form(site: Site, texts: list[str], form: str) -> list[str]:
    first = of_release(site) if texts and form == CONF else []
    return [*first, *(in_form(text, site, form) for text in texts)]


def run(options: argparse.Namespace) -> int:
    """Print the findings; return the report's exit status. Raises ReplayError."""
    site = load_site(options.site, check_files=False)
    experiments = load_experiments(options.experiment)
    with waiting(f"inspecting {site.label}"):
        report = preflight(site, experiments, scale=options.scale, data_set=options.data, write=options.write_probe)
    if options.format:
        commands, undo = (each(report, options.format) for each in (commands_in, undo_in))
        print("\n".join(commands or ["no command to run"]))
        if undo:
            print("\n".join(["", *_to_undo(site), *undo]))
        for item in report.findings.unsolved():
            print(f"no command helps: {item.topic}: {item.text}", file=sys.stderr)
    elif options.json:
        print(json.dumps(report.public(), indent=2, ensure_ascii=False))
    else:
        show(report, sys.stdout)
    return report.exit_status


def _figures(
    site: Site, experiments: Iterable[Mapping[str, Any]], scale: str, data_set: str, copies: PoolCopies
) -> dict[str, dict[str, float]]:
    """Return what remains to be measured of each experiment that has the scale; `bytes_at_once` is of a block."""
    figures = {}
    for name in (experiment["name"] for experiment in experiments if scale in experiment["scales"]):
        design = design_for(site, name, scale)
        plan = estimate(design, data_set, range(1, design.blocks + 1), terms_of(site, copies))
        figures[name] = {
            "cells": float(plan.cells),
            "hours": plan.seconds / 3600,
            "bytes_to_client": plan.client_bytes,
            "bytes_to_media": plan.media_bytes,
            "bytes_at_once": float(bytes_at_once(design)),
        }
    return figures


def _check_primary(
    site: Site, session: MonitorSession, experiments: list[Mapping[str, Any]], findings: Findings
) -> bool:
    """Inspect the cluster to be measured; return whether it answers. If not, what it lacks is unknown."""
    status = checks.check_cluster(session, findings)
    if status is not None:
        findings.copies = copies_on(site, session)
        _guarded("pools", lambda: pool_checks.check_pools(site, session, findings), findings)
        _guarded("space", lambda: pool_checks.check_space(site, session, findings), findings)
        _guarded("pools", lambda: pool_checks.check_own_pools(site, session, status, findings), findings)
        _guarded("stop", lambda: checks.check_stop_switch(site, session, findings), findings)
        _guarded("counters", lambda: checks.check_counters(session, experiments, findings), findings)
        _guarded("clocks", lambda: checks.check_clocks(session, findings), findings)
    check_programs(experiments, site, findings)
    checks.check_bindings(session, findings)
    return status is not None


def _check_secondary(site: Site, secondary: Cluster, findings: Findings) -> None:
    """Inspect the second cluster, or, if it has no keyring yet, list what a new one needs."""
    if not any(why_unreadable(path) for path in (secondary.conf, secondary.keyring) if path is not None):
        with closing(MonitorSession(secondary, connect_timeout_seconds=checks.TIMEOUT_SECONDS)) as session:
            _guarded("mirroring", lambda: check_mirroring(site, session, findings), findings)
    elif secondary.keyring is not None and not os.path.lexists(secondary.keyring):
        text = f"keyring of the {secondary.name} cluster: {secondary.keyring}: {why_unreadable(secondary.keyring)}"
        commands = admin_commands.second_site(site)
        findings.add("mirroring", "refused", f"{text}; {checks.WITHOUT_SECOND}", commands=commands)


def _guarded(topic: str, check: Any, findings: Findings) -> None:
    """Run a check; if a cluster stops answering or denies a read meanwhile, that is a finding too."""
    try:
        check()
    except CephCommandError as error:
        findings.add(topic, "refused", str(error).splitlines()[0])


def _risks(site: Site, findings: Findings, now: datetime) -> None:
    limits, window = site.ceilings, site.time_window
    if window is not None:
        if window.is_open(now):
            text = f"open ({window}), for another {window.seconds_until_close(now) / 3600:.1f} h"
        else:
            text = f"closed ({window}); opens in {window.seconds_until_open(now) / 3600:.1f} h"
        findings.add("window", "ok", text)
    if site.sandbox is not None:
        return
    for set_by_site, risk in (
        (window, "no time window: a run may continue into the working day"),
        (limits.rate_bytes_per_second, "no ceiling on the rate: clients take as much as the cluster can give"),
        (limits.bytes_written_to_media_per_run, "no ceiling on bytes written to media: flash wears out"),
        (limits.tenant_latency_seconds, "no ceiling on the latency of other users of the cluster"),
    ):
        if set_by_site is None:
            findings.add("risk", "note", risk)
    for word in sorted({"host_root", "kernel_rbd", "pool_delete"} & site.allows):
        findings.add("risk", "note", f"the site's file allows {word}")


def _experiment(
    site: Site, raw: Mapping[str, Any], lacking: Mapping[str, str], estimate: Mapping[str, float]
) -> dict[str, Any]:
    beyond_the_file = {**lacking, **lacking_to_protocol(raw["protocol"], site)}

    def lacks(requires: Sequence[str]) -> dict[str, str]:
        absent = beyond_the_file | dict(missing(requires, site))
        return {word: absent[word] for word in requires if word in absent}

    lacking_here = lacks(raw.get("requires", ()))
    if checks.OSD_COUNTERS in lacking and checks.reads_counters(raw) == "must":
        lacking_here[checks.OSD_COUNTERS] = lacking[checks.OSD_COUNTERS]
    return {
        "name": raw["name"],
        "title": raw["title"],
        "missing": lacking_here,
        "variants": [
            {
                "name": variant["name"],
                "label": variant["label"],
                "missing": lacks(variant.get("requires", ())),
            }
            for variant in raw["variants"]
        ],
        # What cannot be measured here takes nothing.
        "estimate": {} if lacking_here else dict(estimate),
    }


def _total(rows: list[dict[str, Any]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for row in rows:
        for key, value in row["estimate"].items():
            if key != "bytes_at_once":  # the images of one block are gone before those of the next are made
                total[key] = total.get(key, 0.0) + value
    return total


def _estimate_text(estimate: Mapping[str, float]) -> str:
    client, media = (f"{estimate[f'bytes_to_{end}'] / 2**30:.1f} GiB" for end in ("client", "media"))
    return f"{estimate['cells']:.0f} cells, about {estimate['hours']:.1f} h, {client} to the clients, {media} to media"
