"""Every subcommand of `replay`, in the order of the help, and what each one needs on this machine."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from replay.base.command_line import Command
from replay.base.errors import ReplayError
from replay.base.releases import HOST
from replay.claims.arguments import COMMAND as CLAIMS
from replay.cli.init_arguments import COMMAND as INIT
from replay.cluster import sandbox_record
from replay.derive.arguments import COMMAND as DERIVE
from replay.evidence.arguments import COMMAND as RAW
from replay.exchange.bundle.arguments import COMMAND as BUNDLE
from replay.exchange.compare.arguments import COMMAND as COMPARE
from replay.exchange.importing.arguments import COMMAND as IMPORT
from replay.exchange.talk.arguments import COMMAND as TALK
from replay.measure.arguments import COMMAND as MEASURE
from replay.measure.interleave_arguments import COMMAND as INTERLEAVE
from replay.ownership.arguments import COMMAND as CLEAN
from replay.preflight.arguments import COMMAND as PREFLIGHT
from replay.sandbox.arguments import COMMAND as SANDBOX

#: What `scripts/setup --for LEVEL` provides in a checkout. NOTHING means that Python alone is enough.
NOTHING, DERIVED, CLIENT, OWN_CLUSTER = "nothing", "derive", "client", "sandbox"


def _derive(options: argparse.Namespace) -> str:
    return DERIVED


def _cluster(options: argparse.Namespace) -> str:
    """Return the level for a site: only the sandbox needs Ceph's daemons here, and a fetched release brings them."""
    if options.site != "sandbox":
        return CLIENT
    try:
        release = sandbox_record.load().options.release
    except ReplayError:
        return OWN_CLUSTER
    return OWN_CLUSTER if release == HOST else DERIVED


def _sandbox(options: argparse.Namespace) -> str:
    """Return the level for `sandbox`: a fetched release brings what it needs."""
    if options.what != "up" or (options.release or HOST) != HOST:
        return NOTHING
    return OWN_CLUSTER


@dataclass(frozen=True)
class Entry:
    """A command, and the function that returns the level of set-up that it needs with the given options."""

    command: Command
    level: Callable[[argparse.Namespace], str]


COMMANDS = {
    entry.command.name: entry
    for entry in (
        Entry(INIT, lambda options: NOTHING),
        Entry(PREFLIGHT, _cluster),
        Entry(MEASURE, _cluster),
        Entry(INTERLEAVE, lambda options: DERIVED),
        Entry(DERIVE, _derive),
        Entry(CLAIMS, _derive),
        Entry(IMPORT, _derive),
        Entry(COMPARE, _derive),
        Entry(TALK, _derive),
        Entry(BUNDLE, _derive),
        Entry(CLEAN, _cluster),
        Entry(SANDBOX, _sandbox),
        Entry(RAW, _derive),
    )
}
