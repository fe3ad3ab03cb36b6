"""The minute itself: connects to the clusters, asks them, watches their OSDs, and asks about mirroring again."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

from replay.base.errors import ReplayError
from replay.base.invocation import replay_command
from replay.base.terminal import waiting
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.site import Site
from replay.preflight.checks import why_no_answer
from replay.preflight.look.asking import (
    Answers,
    Asker,
    ask_cluster,
    ask_first,
    ask_mirroring,
    ask_second,
    mirrored_pools,
    watch,
)
from replay.preflight.look.copies import Copy, copies_in
from replay.sandbox.link import connect_seconds, link_facts

#: The whole look takes no longer; the OSDs are watched up to the second moment, so that the rest fits in.
ENDS_AFTER_SECONDS, WATCHES_UNTIL_SECONDS = 60.0, 48.0
#: The names of the clusters in a site.
FIRST, SECOND = "primary", "secondary"


@dataclass
class Seen:
    """What a look has found: the answers of both clusters, and the copies as they were at its begin."""

    first: Answers
    askers: dict[str, Asker]
    second: Answers | None = None
    #: Why the second cluster, if there is one, did not answer.
    silent: str = ""
    earlier: dict[str, dict[str, Copy]] = field(default_factory=dict)
    line_seconds: float | None = None
    seconds: float = 0.0

    @property
    def unanswered(self) -> dict[str, str]:
        """Why some kinds of question were not answered, by cluster and kind."""
        names = self.names
        return {
            f"{names[side]}: {kind}": why
            for side, asker in self.askers.items()
            for kind, why in asker.unanswered.items()
        }

    @property
    def names(self) -> dict[str, str]:
        """What to call the clusters: by the names that mirroring has for them, if it has any."""
        second = self.second.name if self.second else ""
        return {FIRST: self.first.name or "the first cluster", SECOND: second or "the second cluster"}


def look(
    site: Site,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    say: Callable[[str], None] = lambda text: print(text, flush=True),
) -> Seen:
    """Ask the site's clusters, and watch them; nothing is changed. Raises ReplayError if the first does not answer."""
    began = clock()
    with ExitStack() as stack:

        def asker(cluster: Cluster) -> Asker:
            made = Asker(cluster, ends_at=began + ENDS_AFTER_SECONDS, clock=clock)
            stack.enter_context(closing(made.session))
            return made

        first = asker(site.primary)
        try:
            status = first.status()
        except CephCommandError as error:
            there = f"from a host of the cluster: ceph --conf {site.primary.conf} --connect-timeout 5 -s"
            raise ReplayError(
                why_no_answer(site.primary, error),
                next_step=replay_command("sandbox", "up") if site.sandbox else there,
            ) from error
        askers, silent, second_status = {FIRST: first}, "", None
        if site.secondary is not None:
            second = asker(site.secondary)
            try:
                second_status = second.status()
                askers[SECOND] = second
            except CephCommandError as error:
                silent = why_no_answer(site.secondary, error)
                say(f"! {silent}. Going on with the first cluster.")
        with waiting(f"asking, then watching for {WATCHES_UNTIL_SECONDS:.0f} s in all"):
            seen = Seen(ask_cluster(first, status), askers, silent=silent)
            ask_first(first, seen.first)
            answers = {FIRST: seen.first}
            if second_status is not None:
                seen.second = answers[SECOND] = ask_cluster(askers[SECOND], second_status)
                ask_second(askers[SECOND], seen.second, mirrored_pools(seen.first))
                seen.line_seconds = _line_seconds(site)
            seen.earlier = {
                name: {copy.image: copy for copy in copies_in(seen.first, seen.second, name)}
                for name in mirrored_pools(seen.first)
            }
            watch(askers, answers, began + WATCHES_UNTIL_SECONDS, clock=clock, sleep=sleep)
            side = SECOND if seen.second is not None else FIRST
            ask_mirroring(askers[side], answers[side], mirrored_pools(answers[side]))
    seen.seconds = clock() - began
    return seen


def _line_seconds(site: Site) -> float | None:
    assert site.secondary is not None, "there is a line only to a second cluster"
    return connect_seconds(site.secondary.conf) if site.sandbox is None else link_facts(site).get("link_rtt_seconds")
