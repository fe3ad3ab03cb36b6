"""Whether a cluster is fit to be measured, according to `ceph status`. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


def _codes(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A run on such a cluster would measure its problems, or add to them. Without a manager (MGR_DOWN), usage and placement
# group statistics are frozen, and ceilings cannot be checked. A stretch cluster that has lost a site acknowledges what
# the other one alone has.
REFUSED_CODES = _codes(
    """
    PG_AVAILABILITY PG_DEGRADED PG_DEGRADED_FULL PG_DAMAGED PG_BACKFILL_FULL PG_RECOVERY_FULL OBJECT_MISPLACED
    OBJECT_UNFOUND OSD_DOWN OSD_FULL OSD_NEARFULL OSD_BACKFILLFULL OSD_OUT_OF_ORDER_FULL OSD_TOO_MANY_REPAIRS
    POOL_FULL POOL_NEARFULL POOL_BACKFILLFULL POOL_NEAR_FULL SLOW_OPS REQUEST_SLOW REQUEST_STUCK MGR_DOWN
    DEGRADED_STRETCH_MODE RECOVERING_STRETCH_MODE
    """
)
#: What the recovery of a whole cluster ends by itself: none of these is left when it is done.
SETTLING_CODES = frozenset({"PG_AVAILABILITY", "PG_DEGRADED", "OBJECT_MISPLACED", "PG_STATE", "RECOVERY"})
#: An operation that waited for a daemon counts as slow until it has ended, also after the daemon is back.
_ALSO_SETTLING_CODES = frozenset({"SLOW_OPS"})
_REFUSED_PATTERN = re.compile(r"OSD_[A-Z]+_DOWN")  # OSD_HOST_DOWN, OSD_RACK_DOWN, …

HARMLESS_CODES = _codes(
    """
    AUTH_INSECURE_GLOBAL_ID_RECLAIM AUTH_INSECURE_GLOBAL_ID_RECLAIM_ALLOWED BLUEFS_AVAILABLE_SPACE BLUEFS_SPILLOVER
    BLUESTORE_FRAGMENTATION BLUESTORE_LEGACY_STATFS BLUESTORE_NO_PER_PG_OMAP BLUESTORE_NO_PER_POOL_OMAP
    CACHE_POOL_NO_HIT_SET CEPHADM_PAUSED DAEMON_OLD_VERSION DASHBOARD_DEBUG DEVICE_HEALTH DEVICE_HEALTH_IN_USE
    LARGE_OMAP_OBJECTS MANY_OBJECTS_PER_PG MGR_INSIGHTS_WARNING MGR_MODULE_DEPENDENCY MGR_MODULE_ERROR
    MON_CLOCK_SKEW MON_DISK_BIG MON_DISK_LOW MON_DOWN MON_MSGR2_NOT_ENABLED OLD_CRUSH_STRAW_CALC_VERSION
    OLD_CRUSH_TUNABLES OSD_NO_DOWN_OUT_INTERVAL OSD_SLOW_PING_TIME_BACK OSD_SLOW_PING_TIME_FRONT
    OSD_UPGRADE_FINISHED PG_NOT_DEEP_SCRUBBED PG_NOT_SCRUBBED POOL_APP_NOT_ENABLED POOL_NO_REDUNDANCY
    POOL_PG_NUM_NOT_POWER_OF_TWO POOL_TARGET_SIZE_BYTES_OVERCOMMITTED POOL_TARGET_SIZE_RATIO_OVERCOMMITTED
    POOL_TOO_FEW_PGS POOL_TOO_MANY_PGS RECENT_CRASH RECENT_MGR_MODULE_CRASH SMALLER_PGP_NUM TELEMETRY_CHANGED
    TOO_FEW_OSDS TOO_FEW_PGS TOO_MANY_PGS
    """
)

# CephFS, object gateways and the like serve others; block devices work without them.
UNRELATED_CODES = _codes(
    """
    FS_DEGRADED FS_INLINE_DATA_DEPRECATED FS_WITH_FAILED_MDS MDS_ALL_DOWN MDS_CACHE_OVERSIZED
    MDS_CLIENTS_BROKEN_ROOTSQUASH MDS_CLIENTS_LAGGY MDS_CLIENT_LATE_RELEASE MDS_CLIENT_LATE_RELEASE_MANY
    MDS_CLIENT_OLDEST_TID MDS_CLIENT_OLDEST_TID_MANY MDS_CLIENT_RECALL MDS_CLIENT_RECALL_MANY MDS_DAMAGE
    MDS_DEGRADED MDS_ESTIMATED_REPLAY_TIME MDS_FAILED MDS_HEALTH_READ_ONLY MDS_INSUFFICIENT_STANDBY MDS_READ_ONLY
    MDS_SLOW_METADATA_IO MDS_SLOW_REQUEST MDS_TRIM MDS_UP_LESS_THAN_MAX RGW_LARGE_OMAP_OBJECTS
    """
)

# No reason to refuse a cluster that already has them; but a run during which they appear may be their cause.
STOPPING_CODES = _codes(
    """
    BLOCK_DEVICE_STALLED_READ_ALERT BLUESTORE_SLOW_OP_ALERT DB_DEVICE_STALLED_READ_ALERT MON_CLOCK_SKEW MON_DISK_LOW
    MON_DOWN OSD_SLOW_PING_TIME_BACK OSD_SLOW_PING_TIME_FRONT WAL_DEVICE_STALLED_READ_ALERT
    """
)

# Flags of the OSD map that stop or distort client I/O; noout, noscrub and the like do not.
_REFUSED_FLAGS = frozenset({"full", "pauserd", "pausewr", "pauserec", "noup"})

# The managers have not heard of such a group yet, or its OSDs still make it: its pool is new.
_NEW_PG_WORDS = frozenset({"unknown", "creating"})

# What an idle placement group may do; a measured cluster scrubs and trims snapshots.
_HARMLESS_PG_WORDS = frozenset({"active", "clean", "scrubbing", "deep", "snaptrim", "snaptrim_wait", "remapped"})


@dataclass(frozen=True)
class Verdict:
    """`refuse`, `harmless` and `unknown` are lists of (code, message); `summary` is what a sidecar records.

    `new_groups` says that nothing is wrong except placement groups that look like those of a pool just made.
    """

    refuse: tuple[tuple[str, str], ...]
    harmless: tuple[tuple[str, str], ...]
    unknown: tuple[tuple[str, str], ...]
    summary: dict[str, Any]
    new_groups: bool = False

    @property
    def fit(self) -> bool:
        return not self.refuse

    @property
    def settles(self) -> bool:
        """Whether all that is wrong ends by itself once the cluster has recovered."""
        return all(code in SETTLING_CODES | _ALSO_SETTLING_CODES for code, _ in self.refuse)

    @property
    def recovers(self) -> bool:
        """Whether all that is wrong is a recovery, which is under way."""
        codes = {code for code, _ in self.refuse}
        return "RECOVERY" in codes and codes <= SETTLING_CODES

    def sentence(self) -> str:
        """Why measuring is refused, on one line; empty if it is not."""
        return "; ".join(f"{code}: {message}" for code, message in self.refuse)


def classify(status: Mapping[str, Any], detail: Mapping[str, Any] | None = None) -> Verdict:
    """Judge `ceph status` (parsed JSON); `detail`, the parsed `ceph health detail`, adds names to the messages.

    A muted code counts like any other: muting hides a problem but does not solve it. An unknown warning is recorded and
    does not stop the run; an unknown error does.
    """
    health = status.get("health", {})
    checks: Mapping[str, Any] = health.get("checks", {})
    refuse: list[tuple[str, str]] = []
    harmless: list[tuple[str, str]] = []
    unknown: list[tuple[str, str]] = []
    for code, check in sorted(checks.items()):
        item = (code, _message(code, check, detail))
        if _refused(code, check):
            refuse.append(item)
        elif code in HARMLESS_CODES or code in UNRELATED_CODES or code == "OSDMAP_FLAGS":
            harmless.append(item)
        else:
            unknown.append(item)
    # Ceph reports a stuck group only after a minute.
    if bad_groups := _bad_groups(status):
        named = ", ".join(f"{count} {state}" for state, count in bad_groups.items())
        refuse.append(("PG_STATE", f"placement groups that are not active and clean: {named}"))
    refuse += _recovery(status)
    new_groups = {code for code, _ in refuse} == {"PG_STATE"} and all(
        _NEW_PG_WORDS & words(state) for state in bad_groups
    )
    muted = {code for code, check in checks.items() if check.get("muted")}
    muted |= {mute["code"] for mute in health.get("mutes", ())}
    summary = {"status": health.get("status", "unknown"), "codes": sorted(checks), "muted": sorted(muted)}
    return Verdict(tuple(refuse), tuple(harmless), tuple(unknown), summary, new_groups)


def nameless(message: str) -> str:
    """Return a message without the names of daemons and hosts, for a record that is shared; OSDs keep their numbers.

    A monitor is often called like its host.
    """
    message = re.sub(
        r"\b(quorum) \S+|\b(mons?) \S+(?= (?:is|are)\b)", lambda match: f"{match[1] or match[2]} …", message
    )
    return re.sub(r"\b(mon|mgr|mds|rgw|rbd-mirror|client|host)\.[\w.:-]+", r"\1.…", message)


def no_answer(why: str) -> Verdict:
    summary = {"status": "unknown", "codes": [], "muted": []}
    return Verdict((("NO_ANSWER", why),), (), (), summary)


def new_since(start: Verdict, now: Verdict) -> dict[str, str]:
    """Return the codes, with their messages, that a cluster did not have at the `start` and that concern block devices.

    These are those that refuse a measurement and STOPPING_CODES, never UNRELATED_CODES.
    """
    now_known = dict(now.refuse) | {code: text for code, text in now.harmless + now.unknown if code in STOPPING_CODES}
    before = {code for code, _ in start.refuse + start.harmless + start.unknown}
    return {code: text for code, text in now_known.items() if code not in before}


def slow_operations(status: Mapping[str, Any]) -> int:
    """How many slow operations the cluster reports (at least 1 if it reports some without a count)."""
    count = 0
    for code in ("SLOW_OPS", "REQUEST_SLOW", "REQUEST_STUCK"):
        if check := status.get("health", {}).get("checks", {}).get(code):
            counted = re.match(r"\s*(\d+)", check.get("summary", {}).get("message", ""))
            count += int(counted[1]) if counted else 1
    return count


def _refused(code: str, check: Mapping[str, Any]) -> bool:
    if code == "OSDMAP_FLAGS":
        message = check.get("summary", {}).get("message", "")
        return bool(_REFUSED_FLAGS & set(re.findall(r"[a-z]+", message)))
    if code in REFUSED_CODES or _REFUSED_PATTERN.fullmatch(code):
        return True
    return code not in HARMLESS_CODES | UNRELATED_CODES and check.get("severity") == "HEALTH_ERR"


def _message(code: str, check: Mapping[str, Any], detail: Mapping[str, Any] | None) -> str:
    message = check.get("summary", {}).get("message", "no message")
    lines = [line["message"] for line in ((detail or {}).get("checks", {}).get(code, {}).get("detail") or ())]
    if lines:
        message += f" ({'; '.join(lines[:3])}{'; …' if len(lines) > 3 else ''})"
    return message + (" [muted]" if check.get("muted") else "")


def _bad_groups(status: Mapping[str, Any]) -> dict[str, int]:
    """Return how many placement groups are in each state that is not active and clean."""
    bad = {}
    for state in status.get("pgmap", {}).get("pgs_by_state", ()):
        is_doing = words(state["state_name"])
        if not {"active", "clean"} <= is_doing <= _HARMLESS_PG_WORDS:
            bad[state["state_name"]] = state["count"]
    return bad


def words(state: str) -> set[str]:
    """Return the words of a placement group's state: `active+clean+snaptrim` has three."""
    return set(state.split("+"))


def _recovery(status: Mapping[str, Any]) -> list[tuple[str, str]]:
    pgmap = status.get("pgmap", {})
    seen = [
        f"{pgmap[key]} {key.replace('_', ' ')}"
        for key in ("degraded_objects", "misplaced_objects", "unfound_objects", "recovering_objects_per_sec")
        if pgmap.get(key)
    ]
    return [("RECOVERY", f"recovery is in progress: {', '.join(seen)}")] if seen else []
