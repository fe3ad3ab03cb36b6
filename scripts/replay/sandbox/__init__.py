"""A sandbox: two real Ceph clusters, `left` and `right`, as plain processes of this user on 127.0.0.1.

Needs Ceph's programs and Python's standard library only. `up`, `down`, `load` and `owns_fsid` are the interface for
other code; `replay sandbox` is the one for people.
"""

from replay.cluster.sandbox_record import Sandbox, load, owns_fsid
from replay.sandbox.lifecycle import down, up

__all__ = ["Sandbox", "down", "load", "owns_fsid", "up"]
