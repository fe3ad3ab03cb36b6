"""The shell of which an administrator's commands consist, and how one of them is undone. Nothing here runs it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from replay.cluster.cluster import Cluster

ADMINISTRATOR = "client.admin"


@dataclass(frozen=True)
class AdminCommand:
    """A command that makes one thing, and what undoes it.

    `text` can be pasted. A script runs `steps` if `absent` holds, which must fail if the cluster does not answer, and
    then notes what `identity` prints. It runs `undo` only as long as `identity` prints the same: a thing of that name
    that somebody else has made meanwhile stays. `before` is what a script makes first, and undoes last; `text` makes it
    along. All of these are shell, without newlines at their end.
    """

    what: str
    text: str
    absent: str
    steps: tuple[str, ...]
    identity: str
    undo: tuple[str, ...]
    before: tuple[AdminCommand, ...] = ()

    def in_order(self) -> Iterator[AdminCommand]:
        """Yield what a script makes, one after the other."""
        yield from self.before
        yield self


def administrator(cluster: Cluster) -> Cluster:
    """Return the cluster as its administrator reaches it, with the keyring of the usual name next to its conf.

    If there is none, ceph looks for one itself.
    """
    keyring = cluster.conf.with_name(f"{cluster.conf.stem}.{ADMINISTRATOR}.keyring")
    return replace(cluster, client=ADMINISTRATOR, keyring=keyring if os.path.lexists(keyring) else None)


def named(what: str, kind: str, name: str, make: str) -> AdminCommand:
    """Return the command that makes a thing which only has a name, as `ls` and `rm` of its kind know it."""
    absent = f"names=$({kind} ls) && ! printf '%s\\n' \"$names\" | grep -qxF -e {name}"
    there = f"names=$({kind} ls) && printf '%s\\n' \"$names\" | grep -xF -e {name}"
    return AdminCommand(what, "", absent, (f"{kind} {make}",), there, (f"{kind} rm {name}",))


def new_keyring(made: str, keyring: str, indented: str = "") -> str:
    """Return a command that writes another command's output to a new file that only its owner can read.

    It writes the file at the end, so a failing command leaves no empty keyring.
    """
    lines = ("(umask 077 && set -o noclobber &&", f"key=$({made}) &&", f"printf '%s\\n' \"$key\" > {keyring})")
    return f"\n{indented}  ".join(lines)


def block(condition: str, steps: Sequence[str]) -> str:
    """Return a command that runs all steps, up to one that fails, if a condition holds."""
    body = " &&\n".join(f"  {step}" for step in steps)
    return f"if {condition}; then\n{body}\nfi"


def program(name: str, cluster: Cluster) -> str:
    """Return how an administrator calls a program on a cluster."""
    return shlex.join([name, *administrator(cluster).arguments()])
