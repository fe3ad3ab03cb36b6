"""A stretch cluster: one cluster over both sites that writes synchronously, with a tiebreaker monitor.

Each site has a monitor and half of the OSDs; the tiebreaker and the manager are on the second site, which survives the
loss of the first. Every write is acknowledged by OSDs of both sites. See
https://docs.ceph.com/en/latest/rados/operations/stretch-mode/.
"""

from __future__ import annotations

from replay.cluster.sandbox_record import Layout, SandboxCluster
from replay.cluster.session import MonitorSession
from replay.sandbox.tools import run

SITES = ("left", "right")
TIEBREAKER = "tiebreaker"
RULE, RULE_ID = "stretch_rule", 1
#: Up to this release a rule says for how many copies it is.
_RULES_HAVE_SIZES = 16
_END = "# end crush map"


def spread(cluster: SandboxCluster, ports: list[int]) -> SandboxCluster:
    """Spread a cluster that does not exist yet over both sites; `ports` are for its three monitors."""
    monitors = dict(zip((*SITES, TIEBREAKER), ports, strict=True))
    per_site = len(cluster.osd_uuids) // len(SITES)
    cluster.monitor_ports = monitors
    cluster.sites = {f"mon.{name}": "left" if name == "left" else "right" for name in monitors}
    cluster.sites |= {"mgr.right": "right"}
    cluster.sites |= {f"osd.{osd}": SITES[osd // per_site] for osd in cluster.osd_ids}
    return cluster


def place_of(cluster: SandboxCluster, osd: str) -> list[str]:
    """Return where an OSD is in the CRUSH map. On a stretch cluster each is a host of its own in its data centre."""
    if osd not in cluster.sites:
        return [f"host={cluster.name}", "root=default"]
    site = cluster.sites[osd]
    return [f"host={site}-{osd.replace('.', '-')}", f"datacenter={site}", "root=default"]


def prepare(monitors: MonitorSession, cluster: SandboxCluster, layout: Layout, major: int) -> None:
    """Make the rule that keeps two copies on each site, and say where the monitors are."""
    programs, folder = layout.programs_at(cluster.name), layout.cluster(cluster.name)
    ceph = ["ceph", "--conf", cluster.conf, "osd"]
    compiled, text = folder / "crush.map", folder / "crush.txt"
    run(programs, [*ceph, "getcrushmap", "-o", str(compiled)])
    run(programs, ["crushtool", "--decompile", str(compiled), "--outfn", str(text)])
    text.write_text(with_rule(text.read_text(encoding="utf-8"), major), encoding="utf-8")
    run(programs, ["crushtool", "--compile", str(text), "--outfn", str(compiled)])
    run(programs, [*ceph, "setcrushmap", "-i", str(compiled)])
    for path in (compiled, text):
        path.unlink()
    rule = {"who": "global", "name": "osd_pool_default_crush_rule", "value": str(RULE_ID)}
    monitors.command({"prefix": "config set", **rule})
    monitors.command({"prefix": "mon set election_strategy", "strategy": "connectivity"})
    for name in cluster.monitor_ports:
        monitors.command({"prefix": "mon set_location", "name": name, "args": [f"datacenter={name}"]})


def with_rule(crush_map: str, major: int) -> str:
    """Return the text of a CRUSH map with the rule: two copies in each data centre, on different hosts."""
    sizes = ["min_size 1", "max_size 10"] if major <= _RULES_HAVE_SIZES else []
    steps = ["take default", "choose firstn 0 type datacenter", "chooseleaf firstn 2 type host", "emit"]
    lines = [f"id {RULE_ID}", "type replicated", *sizes, *(f"step {step}" for step in steps)]
    rule = f"rule {RULE} {{\n" + "".join(f"\t{line}\n" for line in lines) + "}\n\n"
    # The compiler wants this line to be the last one.
    return crush_map.replace(_END, rule + _END)


def enable(monitors: MonitorSession) -> None:
    """Switch stretch mode on: pools get four copies, and a write needs an OSD of each site."""
    how = {"tiebreaker_mon": TIEBREAKER, "new_crush_rule": RULE, "dividing_bucket": "datacenter"}
    monitors.command({"prefix": "mon enable_stretch_mode", **how})
