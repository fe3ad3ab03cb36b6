"""Every sidecar names the code that measured, with and without a checkout."""

from __future__ import annotations

import re

from replay.base.version import version
from replay.raw import provenance


def test_a_checkout_states_its_version_and_its_commit():
    said = provenance.measuring_code.__wrapped__()
    assert said["replay_version"] == version()
    assert re.fullmatch(r"[0-9a-f]{40}", said["git_commit"])
    assert said["git_dirty"] in (True, False)


def test_an_installed_package_states_only_its_version(monkeypatch):
    monkeypatch.setattr(provenance, "ROOT", None)
    monkeypatch.setattr(provenance, "version", lambda: "1.2.3")
    assert provenance.measuring_code.__wrapped__() == {
        "replay_version": "1.2.3",
        "git_commit": None,
        "git_dirty": None,
    }
