"""Asks one cluster for `replay look`, through the monitors, by programs, and image by image; it only reads.

It also knows how to read what mirror daemons say of an image.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.base.errors import ReplayError
from replay.base.programs import SYSTEM_PYTHON
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.session import MonitorSession

#: A cluster that is there takes a connection within milliseconds.
CONNECT_WITHIN_SECONDS = 5.0
ANSWER_WITHIN_SECONDS = 10.0
#: Prints what is said of a pool's images; see there. And what these kinds of question are called.
IMAGES = Path(__file__).with_name("images.py")
STATUSES_KIND, JOURNALED_KIND = "mirror image statuses", "features of images"
#: Opening an image takes milliseconds. Of a pool with thousands of them, only the first are looked at.
JOURNALED_WITHIN_SECONDS = 5.0


class Asker:
    """Asks one cluster, until a moment of the clock. What it does not answer is noted, and the look goes on."""

    def __init__(self, cluster: Cluster, ends_at: float, clock: Callable[[], float]) -> None:
        self.cluster = cluster
        self.session = MonitorSession(cluster, connect_timeout_seconds=CONNECT_WITHIN_SECONDS)
        self._ends_at, self._clock = ends_at, clock
        #: Every kind of question, in the order in which it was first asked.
        self.asked: list[str] = []
        #: Why a kind of question was not answered, at least once.
        self.unanswered: dict[str, str] = {}

    def status(self) -> dict[str, Any]:
        """Return the cluster's status, the first question. Raises CephCommandError if the cluster does not answer."""
        self.asked.append("status")
        return self.session.status(timeout_seconds=ANSWER_WITHIN_SECONDS)

    def monitors(self, command: dict[str, Any]) -> Any:
        """Return the answer to a command of `ceph`, None if there is none."""
        return self._ask(str(command["prefix"]), lambda seconds: self.session.command(command, timeout_seconds=seconds))

    def run(self, command: Sequence[str], *arguments: str) -> Any:
        """Return what a program prints as JSON, None if it fails. It prints nothing where there is nothing to list."""

        def run(seconds: float) -> Any:
            words = (*command[1:], *arguments, "--format", "json")
            printed = self.cluster.run(command[0], *words, timeout_seconds=seconds).stdout
            try:
                return json.loads(printed) if printed.strip() else []
            except json.JSONDecodeError as error:
                raise CephCommandError(f"printed no JSON: {error}", where=" ".join(command)) from error

        return self._ask(" ".join(command), run)

    def statuses(self, pool: str) -> Any:
        """Return what the mirror daemons say of each image of a pool, None if that cannot be read."""
        return self._ask(STATUSES_KIND, lambda seconds: read_images(self.cluster, "statuses", pool, seconds))

    def journaled(self, pool: str) -> Any:
        """Return which images of a pool have a journal, None if that cannot be read."""

        def read(seconds: float) -> Any:
            return read_images(self.cluster, "journaled", pool, min(seconds, JOURNALED_WITHIN_SECONDS))

        return self._ask(JOURNALED_KIND, read)

    def _ask(self, kind: str, question: Callable[[float], Any]) -> Any:
        if kind not in self.asked:
            self.asked.append(kind)
        seconds = min(ANSWER_WITHIN_SECONDS, self._ends_at - self._clock())
        if seconds < 1:
            self.unanswered.setdefault(kind, "the minute was over")
            return None
        try:
            return question(seconds)
        except CephCommandError as error:
            self.unanswered.setdefault(kind, error.what)
            return None


def read_images(cluster: Cluster, what: str, pool: str, seconds: float) -> Any:
    """Run the program that tells of a pool's images. Raises CephCommandError if it fails or takes longer."""
    words = [str(cluster.conf), cluster.client, str(cluster.keyring or ""), f"{max(1, int(seconds))}", pool, what]
    where = f"{what} of the images of {pool}"
    try:
        argv = cluster.programs.command([SYSTEM_PYTHON, "-I", str(IMAGES), *words])
        done = subprocess.run(argv, capture_output=True, text=True, timeout=seconds + 2, check=False)
    except (ReplayError, subprocess.TimeoutExpired) as error:
        raise CephCommandError(str(error), where=where) from error
    if done.returncode != 0:
        printed = done.stderr.strip().splitlines()
        raise CephCommandError(printed[-1] if printed else "nothing was printed", where=where)
    return json.loads(done.stdout)


# The copies of mirrored images, from what the mirror daemons say of them on both clusters -----------------------------


@dataclass(frozen=True)
class Copy:
    """An image's copy. `state` is the daemon's word for it, `unknown` if no daemon has said anything.

    Of a journal, `entries_behind` is known. Of snapshots, `taken_at` is the moment, in seconds since 1970, of the
    newest one that is whole in the copy.
    """

    image: str
    state: str
    entries_behind: int | None = None
    taken_at: float | None = None
    by_snapshot: bool = False

    @property
    def how(self) -> str:
        """How the image is mirrored: `journal` or `snapshot`, or its state if that is all that is known."""
        if self.by_snapshot:
            return "snapshot"
        return "journal" if self.entries_behind is not None else self.state


def copies_of(first: Mapping[str, Any], second: Mapping[str, Any] | None) -> list[Copy]:
    """Return the copies of a pool's images, from what the mirror daemons say on both clusters.

    If the second one does not answer, what its daemon has reported to the first one counts.
    """
    originals = [image for image in first.get("images", ()) if not _is_copy(image)]
    if second is None:
        told = {image["name"]: site for image in originals for site in image.get("peer_sites", ())}
    else:
        told = {image["name"]: image for image in second.get("images", ())}
    return [_copy(image["name"], told.get(image["name"], {})) for image in originals]


def _is_copy(image: Mapping[str, Any]) -> bool:
    """Return whether this cluster has the copy: its own daemon then replays the image."""
    return image.get("state", "").startswith("up+") and "primary" not in image.get("description", "").partition("{")[0]


def _copy(name: str, told: Mapping[str, Any]) -> Copy:
    facts = _facts(told.get("description", ""))
    state = told.get("state", "").rpartition("+")[2] or "unknown"
    return Copy(
        name,
        state,
        facts.get("entries_behind_primary"),
        facts.get("local_snapshot_timestamp"),
        by_snapshot="remote_snapshot_timestamp" in facts,
    )


def _facts(description: str) -> dict[str, Any]:
    """Return the figures in a daemon's description of an image, which has a word before them."""
    brace = description.find("{")
    try:
        return json.JSONDecoder().raw_decode(description[brace:])[0] if brace >= 0 else {}
    except json.JSONDecodeError:
        return {}
