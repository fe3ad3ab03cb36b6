"""The findings about a site: those that its files and its clusters give. Changes nothing; every query has a timeout."""

from __future__ import annotations

import errno
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from replay.base.paths import replay_command
from replay.cluster import admin_commands, health
from replay.cluster.admin_commands import AdminCommand
from replay.cluster.cluster import CephCommandError, Cluster, monitors_in, why_unreadable
from replay.cluster.placement_groups import stuck_sentence
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site
from replay.design.needs import needs_of
from replay.design.sizing import PoolCopies
from replay.evidence.record import program_version, short_version
from replay.ownership.locks import go_command, stop_command, stop_switch
from replay.ownership.pools import Room

TIMEOUT_SECONDS = 10.0
#: Monitors whose clocks differ by more complain (`mon_clock_drift_allowed`).
LARGEST_SKEW_SECONDS = 0.05
#: For a user that exists. Ceph would replace its caps with the missing ones, and somebody else may depend on them.
OTHER_CAPABILITIES = (
    "this user has other caps; give Replay a user of its own: name a new client and a new keyring in the site's file, "
    "and preflight prints the command that creates them"
)
#: The word that experiments lack which must read the counters of OSDs. It is no word of `requires`.
OSD_COUNTERS = "osd_counters"
#: The first release that reads and accepts keys for the cipher aes256k. A new cluster of it allows no others.
SINCE = 20
#: What to do where the second cluster keeps a run from starting: a site that may use it is opened with it.
WITHOUT_SECOND = "to measure without the second cluster, remove second_site from allows"


@dataclass(frozen=True)
class SiteFinding:
    """A fact about a site. `word` is the word of `requires` that a `skip` removes.

    As `level`, `ok` and `note` need no action, a `warning` deserves a thought. `skip` removes a capability, `refused`
    stops a run.
    """

    topic: str
    level: str
    text: str
    commands: tuple[AdminCommand, ...] = ()
    word: str | None = None

    def public(self) -> dict[str, Any]:
        """Return it for `--json`."""
        commands = [command.text for command in self.commands]
        return {"topic": self.topic, "level": self.level, "text": self.text, "commands": commands} | (
            {"word": self.word} if self.word else {}
        )


@dataclass
class Findings:
    """The facts so far, in the order they were found."""

    items: list[SiteFinding] = field(default_factory=list)
    #: The copies that the site's pools keep, three until they are known.
    copies: PoolCopies = field(default_factory=PoolCopies)
    #: The room in the pool that takes what clients write, if known.
    room: Room | None = None
    #: The fsid of the cluster that is measured, if known.
    fsid: str | None = None
    #: The number of OSDs of the cluster that is measured, if known.
    osds: int | None = None

    def add(
        self, topic: str, level: str, text: str, *, commands: Iterable[AdminCommand] = (), word: str | None = None
    ) -> None:
        self.items.append(SiteFinding(topic, level, text, tuple(commands), word))

    @property
    def refused(self) -> bool:
        return any(item.level == "refused" for item in self.items)

    def lacking(self) -> dict[str, str]:
        """Return word to reason for each capability that the live cluster lacks."""
        return {item.word: item.text for item in reversed(self.items) if item.level == "skip" and item.word}

    def unsolved(self) -> list[SiteFinding]:
        """Return what keeps a run from starting and has no command that changes it."""
        return [item for item in self.items if item.level == "refused" and not item.commands]

    def commands(self) -> list[AdminCommand]:
        """Return every command once, in the order in which they are run."""
        return list(dict.fromkeys(command for item in self.items for command in item.commands))


def check_files(site: Site, findings: Findings) -> bool:
    """Check that the site's files can be read; return False if the primary cluster cannot be contacted at all."""
    usable = True
    for cluster in (site.primary, site.secondary):
        if cluster is None:
            continue
        files = [(cluster.conf, "conf"), (cluster.keyring, "keyring")]
        if (second := site.second_site) is not None and cluster is second.cluster and site.sandbox is None:
            files.append((second.mirror_daemon_admin_socket, "mirror daemon's admin socket"))
        for path, what in files:
            if path is None or not (why := why_unreadable(path)):
                continue
            commands: list[AdminCommand] = []
            if what == "keyring" and not os.path.lexists(path):
                if cluster is not site.primary:
                    continue  # its commands follow those for the first cluster, if that answers
                commands = admin_commands.everything(site)
            text = f"{what} of the {cluster.name} cluster: {path}: {why}"
            text += "" if cluster is site.primary else f"; {WITHOUT_SECOND}"
            findings.add("files", "refused", text, commands=commands)
            usable = usable and cluster is not site.primary
        keyring = cluster.keyring
        if keyring is not None and not why_unreadable(keyring) and keyring.stat().st_mode & 0o077:
            findings.add("files", "warning", f"{keyring} can be read by other users of this machine")
    return usable


def check_cluster(session: MonitorSession, findings: Findings) -> dict[str, Any] | None:
    """Check whether the cluster answers, its versions and its health; return its status, None without an answer."""
    name, primary = session.cluster.name, session.cluster.name == "primary"
    bad, word = ("refused", None) if primary else ("skip", "second_site")
    try:
        status = session.status(timeout_seconds=TIMEOUT_SECONDS)
        versions = session.command({"prefix": "versions"}, timeout_seconds=TIMEOUT_SECONDS)
    except CephCommandError as error:
        text = why_no_answer(session.cluster, error)
        findings.add("cluster", "refused", text if primary else f"{text}; {WITHOUT_SECOND}")
        return None
    osds = status["osdmap"]
    text = f"the {name} cluster {status['fsid']} answers: {osds['num_up_osds']} of {osds['num_osds']} OSDs up"
    findings.add("cluster", "ok", f"{text}, {len(status['quorum'])} monitors in quorum")
    if primary:
        findings.fsid, findings.osds = status["fsid"], osds["num_osds"]
    running = sorted(
        {short_version(version) or version for kind in ("mon", "mgr", "osd") for version in versions.get(kind, {})}
    )
    mixed = len(running) > 1
    findings.add("cluster", "warning" if mixed else "ok", f"Ceph {', '.join(running)}{' (mixed)' if mixed else ''}")
    verdict = health.classify(status)
    for code, message in verdict.refuse:
        findings.add("health", bad, f"measuring is refused: {code}: {message}", word=word)
    if not verdict.fit and (stuck := stuck_sentence(session)):
        findings.add("health", bad, f"measuring is refused: stuck: {stuck}", word=word)
    for code, message in verdict.unknown:
        findings.add("health", "warning", f"unknown to Replay, recorded but does not stop measuring: {code}: {message}")
    for code, message in verdict.harmless:
        findings.add("health", "note", f"harmless, recorded: {code}: {message}")
    if verdict.fit:
        findings.add("health", "ok", f"the {name} cluster is fit to be measured ({verdict.summary['status']})")
    return status


def why_no_answer(cluster: Cluster, error: CephCommandError) -> str:
    """Return why a cluster cannot be inspected: it refused the key, did not answer, or does not let the user ask.

    A client that does not know a key's cipher cannot read the keyring, and reports EIO. A cluster that does not allow a
    key's cipher refuses the key with EACCES, like a wrong key; the client cannot tell the two apart.
    """
    match = re.search(r"\[errno (\d+)\]", error.what)
    number = int(match[1]) if match else None
    key = f"the key in {cluster.keyring}" if cluster.keyring else "the key that ceph finds here"
    if number in (errno.EPERM, errno.EACCES):
        return (
            f"key rejected: the {cluster.name} cluster does not accept {key} for {cluster.client}; if `ceph mon dump` "
            f"lists only aes256k in auth_allowed_ciphers, it accepts no older key: ask an administrator to create the "
            f"user again, and use a client of Ceph {SINCE}"
        )
    if number == errno.ETIMEDOUT or error.what.startswith("no answer within"):
        named = monitors_in(cluster.conf) or f"the monitors of {cluster.conf}"
        return f"no monitor answered at {named} ({cluster.name} cluster)"
    text = f"the {cluster.name} cluster does not answer as {cluster.client}: {error.what}"
    if number == errno.EIO:
        version = short_version(program_version("ceph", cluster.programs))
        return (
            f"{text}; if {key} is for the cipher aes256k, only clients of Ceph {SINCE} or later know it, and this one "
            f"is {version or 'of an unknown version'}: install ceph-common of release {SINCE}, or run "
            f"{replay_command('sandbox', 'releases', '--get', str(SINCE))} and name it: client_release: {SINCE} in the "
            f"site's file, --client-release {SINCE} with look"
        )
    return f"{text}: {OTHER_CAPABILITIES}" if error.exit_status_of_tool in (errno.EPERM, errno.EACCES) else text


def check_user(session: MonitorSession, findings: Findings) -> None:
    """Check that the user has no unnecessary permissions: a bug in Replay must not harm other tenants."""
    name = f"{session.cluster.client} of the {session.cluster.name} cluster"
    try:
        session.command({"prefix": "auth ls"}, timeout_seconds=TIMEOUT_SECONDS)
    except CephCommandError:
        findings.add("user", "ok", f"{name} is a restricted user")
    else:
        findings.add("user", "warning", f"{name} may read all keys; Replay needs `profile rbd` only")


def check_counters(session: MonitorSession, experiments: Iterable[Mapping[str, Any]], findings: Findings) -> None:
    """Say if OSDs do not return their counters to this user: then nothing is known of what they do for a write."""
    reading = defaultdict(list)
    for experiment in experiments:
        reading[reads_counters(experiment)].append(str(experiment["name"]))
    if not (reading["must"] or reading["may"]):
        return
    osds = session.command({"prefix": "osd dump"}, timeout_seconds=TIMEOUT_SECONDS)["osds"]
    running = [f"osd.{osd['osd']}" for osd in osds if osd["up"]]
    if not running:
        return
    try:
        session.command({"prefix": "perf dump"}, target=running[0], timeout_seconds=TIMEOUT_SECONDS)
    except CephCommandError as error:
        text = f"{running[0]} does not return its counters ({error.what})"
        advice = "OSDs return them to a user with osd 'allow *', who may then write to every pool"
        if names := reading["must"]:
            findings.add("counters", "skip", f"{text}, which {', '.join(names)} needs. {advice}", word=OSD_COUNTERS)
        if names := reading["may"]:
            findings.add("counters", "note", f"{text}. Without what OSDs did: {', '.join(names)}. {advice}")


def reads_counters(experiment: Mapping[str, Any]) -> str:
    """Return whether an experiment reads the counters of OSDs: `never`, `may` or `must`."""
    return needs_of(experiment["protocol"]).osd_counters


def check_clocks(session: MonitorSession, findings: Findings) -> None:
    """Check the clock skew between the monitors."""
    skew = largest_skew(session.command({"prefix": "time-sync-status"}, timeout_seconds=TIMEOUT_SECONDS))
    if skew is None:
        findings.add("clocks", "note", "one monitor: there is no other clock to compare with")
        return
    name, seconds = skew
    level = "warning" if seconds > LARGEST_SKEW_SECONDS else "ok"
    findings.add("clocks", level, f"largest skew between monitors: {seconds * 1e3:.1f} ms (mon.{name})")


def largest_skew(answer: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return the monitor whose clock differs most, and the seconds, from `time-sync-status`; None of one monitor."""
    skews = {name: abs(float(each["skew"])) for name, each in answer.get("time_skew_status", {}).items()}
    name = max(skews, key=lambda key: skews[key], default=None)
    return None if name is None else (name, skews[name])


def check_bindings(session: MonitorSession, findings: Findings) -> None:
    if session.transport != "rados":
        text = "python3-rados is missing: each query of the cluster costs a third of a second of this machine's CPU"
        findings.add("tools", "warning", text, commands=[admin_commands.install("python3-rados")])


def check_stop_switch(site: Site, session: MonitorSession, findings: Findings) -> None:
    """Refuse a cluster whose stop switch is set; else say how its administrator sets it."""
    if any(item.topic == "user" and item.level == "refused" for item in findings.items):
        return  # the user cannot read the pool
    stop = stop_switch(site, session)()
    if stop is not None:
        findings.add("stop", "refused", f"{stop.detail}; when it may run again: {go_command(site)}")
    elif site.sandbox is None:
        findings.add("stop", "note", f"an administrator ends any run within ten seconds: {stop_command(site)}")
