"""Checks a site's client hosts: they answer, and have the same versions as this machine. Changes nothing."""

from __future__ import annotations

from replay.base.errors import ReplayError
from replay.cluster.fio_ssh import ask_versions, check_versions, versions_here
from replay.cluster.site import LOCAL_HOSTS, Site, missing
from replay.preflight.findings import Findings


def check_client_hosts(site: Site, findings: Findings) -> None:
    """Add a finding for each host that needs SSH. If one cannot run clients, the site loses `client_hosts`."""
    others = [host for host in site.client_hosts if host not in LOCAL_HOSTS]
    if not others or missing(["client_hosts"], site):
        return
    here = versions_here(site.primary.programs)
    for host in others:
        try:
            check_versions(here, {host: ask_versions(host)})
        except ReplayError as error:
            commands = [error.next_step.removeprefix("try: ")] if error.next_step.startswith("try: ") else []
            text = f"{error.where} cannot run clients: {error.what}"
            findings.add("clients", "skip", text, word="client_hosts", commands=commands)
        else:
            findings.add("clients", "ok", f"client host {host} answers, with {here.fio} and librbd {here.librbd}")
