"""Which daemons of a site's sandbox do not run, and the command that brings them back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from replay.base.errors import ConfigurationError, EvidenceError, ReplayError
from replay.base.invocation import replay_command
from replay.cluster import sandbox_record
from replay.cluster.sandbox_record import default_directory
from replay.cluster.site import Site
from replay.sandbox import daemons, processes


def absent_daemons(site: Site, *, clusters: tuple[str, ...] = ("left", "right")) -> list[str]:
    """Return a phrase for each daemon that does not run or is stopped; none for a site that is no sandbox.

    Only looks at processes: it answers at once even if no daemon does.
    """
    if site.sandbox is None:
        return []
    try:
        sandbox = sandbox_record.load(default_directory(site.sandbox))
    except sandbox_record.SandboxError:
        return []  # it was removed meanwhile, which the error that brought us here says better
    found = []
    for role in daemons.all_roles(sandbox):
        if role.cluster not in clusters:
            continue
        process = daemons.running(sandbox.layout, role)
        if process is None:
            found.append(f"{role.name} of {role.cluster} does not run")
        elif processes.is_frozen(process):
            found.append(f"{role.name} of {role.cluster} is stopped")
    return found


def up_command(site: Site) -> str:
    """Return the command that starts what does not run of a site's sandbox."""
    named = [] if site.sandbox in (None, "default") else ["--name", site.sandbox]
    return replay_command("sandbox", "up", *named)


@contextlib.contextmanager
def naming_absent_daemons(site: Site) -> Iterator[None]:
    """Let every ReplayError that leaves name the daemons that do not run, as its cause, and how to start them.

    Errors about files are left as they are: no daemon has anything to do with them.
    """
    try:
        yield
    except (ConfigurationError, EvidenceError):
        raise
    except ReplayError as error:
        if found := absent_daemons(site):
            error.because = ", ".join(found)
            error.next_step = f"run {up_command(site)}, then this again; finished sets are kept"
        raise
