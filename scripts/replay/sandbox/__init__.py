"""A sandbox: two real Ceph clusters, `left` and `right`, as plain processes of this user on 127.0.0.1.

Needs Ceph's programs and Python's standard library only. `up`, `down`, `load` and `owns_fsid` are the interface for
other code; `scripts/sandbox` is the one for people.
"""

from replay.sandbox.lifecycle import down, up
from replay.sandbox.state import Sandbox, load, owns_fsid

__all__ = ["Sandbox", "down", "load", "owns_fsid", "up"]
