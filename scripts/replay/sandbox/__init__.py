"""A sandbox: two real Ceph clusters, `left` and `right`, as plain processes of this user on 127.0.0.1.

Needs only Ceph's programs and Python's standard library. Other code uses `up`, `down`, `load` and `owns_fsid`; people
use `replay sandbox`.
"""

from replay.cluster.sandbox_record import Sandbox, load, owns_fsid
from replay.sandbox.lifecycle import down, up

__all__ = ["Sandbox", "down", "load", "owns_fsid", "up"]
