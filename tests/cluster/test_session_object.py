"""An object that is read by the program `rados`, where python3-rados is missing."""

from __future__ import annotations

import errno
from types import SimpleNamespace

import pytest

from replay.cluster.cluster import CephCommandError
from replay.cluster.session import Object
from replay.cluster.site import Pool


def object_that_says(what):
    def ask(command, **_):
        raise CephCommandError("python3-rados is missing", where="object", exit_status_of_tool=errno.ENOTSUP)

    def run(*_):
        if what is None:
            return SimpleNamespace(stdout="stop: maintenance\n")
        raise CephCommandError(f"exit status 1: {what}", where="rados", exit_status_of_tool=1)

    return Object(SimpleNamespace(command=ask, cluster=SimpleNamespace(run=run)), Pool("replay"), "switch")


def test_what_is_not_there_is_not_read_and_what_may_not_be_read_is_an_error():
    assert object_that_says(None).read() == "stop: maintenance\n"
    assert object_that_says("error getting replay/switch: (2) No such file or directory").read() is None
    with pytest.raises(CephCommandError, match="Operation not permitted"):
        object_that_says("error getting replay/switch: (1) Operation not permitted").read()
