"""A sandbox: two real Ceph clusters, `left` and `right`, as plain processes of this user on 127.0.0.1.

Needs only Ceph's programs and Python's standard library. Other code uses `up`, `down`, `load` and `owns_fsid`; people
use `replay sandbox`.
"""

from collections.abc import Callable
from typing import Any

from replay.cluster.sandbox_record import Sandbox, load, owns_fsid

__all__ = ["Sandbox", "down", "load", "owns_fsid", "up"]


def __getattr__(name: str) -> Callable[..., Any]:
    """Import `up` and `down` when they are first used: every command imports this package, and few start a sandbox."""
    if name not in ("up", "down"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from replay.sandbox import lifecycle  # noqa: PLC0415 - see above

    return getattr(lifecycle, name)
