"""What is shared names no client, path or cluster of the site, whatever a tool prints."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.base.paths import ROOT
from replay.cluster.cluster import Cluster
from replay.cluster.health import nameless
from replay.measure.nameless import hide, make_nameless, words_of
from replay.raw.record import Measured

FSID = "11111111-2222-3333-4444-555555555555"


def sessions(second=None):
    def session(cluster):
        return SimpleNamespace(cluster=cluster, fsid=lambda: FSID)

    first = Cluster(Path("/srv/secret/ceph.conf"), "client.telltale", Path("/srv/secret/keyring"))
    return session(first), second and session(second)


def test_a_report_that_repeats_its_configuration_names_nobody():
    said = b'{"clientname" : "client.telltale", "conf": "/srv/secret/ceph.conf", "n": "client.telltale2", "x": "\\xff"}'
    measured = Measured(["fio"], {"output": ("json", said + b"\xff"), "other": ("txt", b"nothing")}, 0, "", "", 1.0, {})
    measured.invalid = ("failed", f"exit status 1: cannot read /srv/secret/keyring of {FSID}")
    make_nameless(measured, words_of(*sessions()))
    shown = measured.results["output"][1]
    assert b'"clientname" : "{client}", "conf": "{conf}"' in shown
    assert b'"client.telltale2"' in shown and shown.endswith(b"\xff"), "only whole words, and bytes as they were"
    assert measured.invalid == ("failed", "exit status 1: cannot read {keyring} of {fsid}")
    assert measured.results["other"] == ("txt", b"nothing")


def test_the_second_cluster_is_not_named_either():
    second = Cluster(Path("/srv/secret/ceph.conf.second"), "client.other", None)
    words = words_of(*sessions(second))
    assert hide("client.other reads /srv/secret/ceph.conf.second", words) == "{second_client} reads {second_conf}"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("1/3 mons down, quorum rack1-a,rack1-b", "1/3 mons down, quorum …"),
        ("clock skew detected on mon.rack1-b", "clock skew detected on mon.…"),
        ("mons rack1-a,rack1-b are low on available space", "mons … are low on available space"),
        ("mon rack1-a is low on available space", "mon … is low on available space"),
        ("3 slow ops, oldest one blocked for 31 sec, daemons [osd.0,mon.rack1-a] have slow ops.",
         "3 slow ops, oldest one blocked for 31 sec, daemons [osd.0,mon.…] have slow ops."),
        ("1 pool(s) full", "1 pool(s) full"),
        ("2 osds down", "2 osds down"),
    ],
)  # fmt: skip
def test_what_a_cluster_says_of_its_health_is_recorded_without_its_hosts(said, kept):
    assert nameless(said) == kept


def test_a_site_file_is_not_taken_into_git_and_does_not_make_a_tree_dirty(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text((ROOT / ".gitignore").read_text())
    sites = tmp_path / "config" / "sites"
    sites.mkdir(parents=True)
    for name in ("example", "sandbox", "mine"):
        (sites / f"{name}.yaml").write_text("name: x\n")
    git = ["git", "-C", str(tmp_path)]
    said = subprocess.run([*git, "status", "--porcelain", "-uall"], capture_output=True, text=True, check=True).stdout
    assert "config/sites/example.yaml" in said and "config/sites/sandbox.yaml" in said
    assert "mine.yaml" not in said
