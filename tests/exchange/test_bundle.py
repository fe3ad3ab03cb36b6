"""`replay bundle`: what leaves is what a list allows, nothing that names a machine or a person, and it is shown."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.cli.main import main
from replay.evidence import durable
from replay.exchange.bundle import CLAIMS, MANIFEST, Redaction, _names_here, _show, suspect
from support.foreign_results import job, report, write
from support.hostile import at_most

#: What must never leave, by what it is.
SECRETS = {
    "a path": ["/dev/nvme0n1", "on /mnt/data/x", "~/results", "C:\\results", "../up"],
    "an address": [
        "10.1.2.3",
        "at 192.168.0.17 now",
        "fe80::1",
        "2001:db8:0:1::5",
        "00:1b:44:11:3a:b7",
        "v2:10.1.2.3:3300/0",
        "[fd00::1]:3300",
    ],
    "an identifier": ["4f6ad1c2-0d4e-4a5b-9c3e-8c1c2d3e4f50", "0123456789abcdef0123456789abcdef"],
    "a user or an address": ["someone@lab", "client.admin", "a@b.example"],
    "a host": ["osd-3.storage.example.org", "node01.local", "rack7.lan"],
    "a serial number": ["S3Z8NB0K4712", "WD0123AB45"],
    "a web address": ["see ceph://here"],
}
#: What a talk says, and may say elsewhere.
HARMLESS = [
    "Throughput, random writes of 4 KiB",
    "2.00 (1.89 to 2.13), n = 10: the claim needs 7.5 to 13.3",
    "Intel(R) Xeon(R) Processor",
    "AMD EPYC 7763, 64 cores",
    "16.2.15",
    "18 (reef)",
    "fio-3.33, fio-3.39",
    "rbd-journaling/ratio-throughput-write-seq",
    "bytes/s and operations/s; with/without",
    "What Ceph's users ask: 99.9th percentile of latency",
    "IOPS with ÷ without journal, both on the capped class",
    "rados bench, 16 in flight... and more",
]


@pytest.mark.parametrize(("what", "text"), [(what, text) for what, texts in SECRETS.items() for text in texts])
def test_a_text_that_names_something_is_recognised(what, text):
    assert suspect(text) is not None, what
    assert suspect(f"before {text}") is not None


@pytest.mark.parametrize("text", HARMLESS)
def test_a_sentence_of_a_talk_is_not_taken_for_a_name(text):
    assert suspect(text, ["storage7"]) is None


def test_the_names_of_this_machine_are_recognised_in_any_case_and_between_dashes():
    assert suspect("run on Storage7", ["storage7"]) and suspect("iops-storage7-write", ["storage7"])
    assert suspect("storage70", ["storage7"]) is None


@at_most(200)
@given(
    key=st.text(min_size=1, max_size=20),
    value=st.one_of(st.text(max_size=30), st.integers(), st.lists(st.text(max_size=5)), st.none()),
)
def test_a_key_that_is_not_listed_does_not_leave(key, value):
    known = {"label": "A label", "setup": {"osds": 3}, "experiments": {"e": {"title": "T", "charts": {}}}}
    hostile = {
        **known,
        key + "?": value,
        "setup": {**known["setup"], key + "?": value},
        "experiments": {"e": {**known["experiments"]["e"], key + "?": value}},
    }
    assert Redaction().document(hostile, MANIFEST, "m") == known
    assert Redaction().document({key + "?": value}, CLAIMS, "c") == {}


def test_that_several_hosts_measured_leaves_by_their_cpus_and_without_their_names():
    provenance = {
        "machines": ["27f1d610"],
        "machines_by_block": {"1": ["27f1d610"]},
        "processors": ["AMD EPYC", "Xeon"],
    }
    kept = Redaction().document({"experiments": {"e": {"provenance": provenance}}}, MANIFEST, "m")
    assert kept == {"experiments": {"e": {"provenance": {"processors": ["AMD EPYC", "Xeon"]}}}}


@at_most(200)
@given(
    value=st.recursive(st.text(max_size=9), lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=4), inner))
)
def test_where_only_a_figure_may_stand_nothing_else_leaves(value):
    kept = Redaction().document({"setup": {"cores": value}, "altered": value}, MANIFEST, "m")
    assert kept == {"setup": {}}


@pytest.fixture
def benchmarks(benchmarks, monkeypatch) -> Path:
    """A folder of data sets on a machine and of a person with these names."""
    monkeypatch.setattr("replay.exchange.bundle.socket.gethostname", lambda: "storage7.lab.example")
    monkeypatch.setattr("replay.exchange.bundle.getpass.getuser", lambda: "someone")
    return benchmarks


def imported(tmp_path: Path, name: str = "mine", **options: str) -> None:
    """Import three runs of two sizes, whose reports name a device, a host and a folder."""
    told = {"filename": "/dev/disk/by-id/nvme-S3Z8NB0K4712", "hostname": "storage7", "ioengine": "libaio", **options}
    write(
        tmp_path / name,
        {
            f"run-{run}/{size}.json": report(job(rw="randwrite", bs=size, operations=20_000 + run, **told), at=run)
            for run in (1, 2, 3)
            for size in ("4k", "64k")
        },
    )
    assert main(["import", str(tmp_path / name), "--data", "mine"]) == 0


def opened(path: Path):
    return json.loads(gzip.decompress(path.read_bytes()))


def test_a_bundle_holds_the_charts_with_their_digests_and_no_name_of_a_device_or_host(tmp_path, benchmarks, capsys):
    imported(tmp_path)
    capsys.readouterr()
    out = tmp_path / "mine.bundle"
    assert main(["bundle", "--data", "mine", "--out", str(out), "--label", "A small machine"]) == 0
    said = capsys.readouterr().out
    found = opened(out)
    assert (found["format"], found["version"], found["data_set"]) == ("replay-bundle", 1, "mine")
    charts = benchmarks / "mine" / "imported-fio" / "aggregate"
    assert {path.name for path in charts.glob("*.csv")} == {
        name.rpartition("/")[2] for name in found["files"] if "/aggregate/" in name
    }
    assert found["files"]["answer.csv"]["text"] == (benchmarks / "mine" / "answer.csv").read_text()
    for file in found["files"].values():
        assert file["sha256"] == hashlib.sha256(file["text"].encode()).hexdigest()
    chart = found["files"]["imported-fio/aggregate/iops-randwrite.csv"]["text"]
    assert chart == (charts / "iops-randwrite.csv").read_text()
    assert json.loads(found["files"]["manifest.json"]["text"])["label"] == "A small machine"
    everything = gzip.decompress(out.read_bytes()).decode() + said.partition("\nwrote ")[0]
    for secret in ("S3Z8", "/dev", "storage7", "someone", str(tmp_path), "git_commit", "by-id"):
        assert secret not in everything, secret
    assert "A small machine    (manifest.label)" in said


def test_every_text_that_leaves_is_shown_and_nothing_is_written_without_a_file(tmp_path, benchmarks, capsys):
    imported(tmp_path)
    capsys.readouterr()
    before = sorted(tmp_path.rglob("*"))
    assert main(["bundle", "--data", "mine"]) == 0
    said = capsys.readouterr().out
    assert sorted(tmp_path.rglob("*")) == before
    assert "nothing was written" in said
    assert main(["bundle", "--data", "mine", "--out", str(tmp_path / "m.bundle"), "--list"]) == 0
    listed = capsys.readouterr().out
    manifest = json.loads(opened(tmp_path / "m.bundle")["files"]["manifest.json"]["text"])

    def leaves(value):
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return [value] if not inner and value not in ({}, []) else [leaf for one in inner for leaf in leaves(one)]

    for leaf in leaves(manifest):
        if isinstance(leaf, str) and leaf:
            assert f"\n  {leaf}    (" in said
        elif isinstance(leaf, int | float) and not isinstance(leaf, bool):
            assert f": {leaf}\n" in listed


def test_no_text_can_hide_itself_from_the_list(capsys):
    redaction = Redaction()
    redaction.text("Mine\x1b[1A\x1b[2K", "manifest.label")
    _show(redaction, everything=False)
    assert r"  Mine\x1b[1A\x1b[2K    (manifest.label)" in capsys.readouterr().out


def test_data_without_digests_do_not_leave(tmp_path, benchmarks, capsys):
    imported(tmp_path)
    shutil.rmtree(benchmarks / "mine" / "imported-fio" / "raw")
    (benchmarks / "mine" / "datapackage.json").unlink()
    assert main(["bundle", "--data", "mine", "--out", str(tmp_path / "mine.bundle")]) == 1
    assert "does not list the derived files" in capsys.readouterr().err
    assert not (tmp_path / "mine.bundle").exists()


def test_a_name_in_a_label_is_refused_until_it_is_replaced(tmp_path, benchmarks, capsys):
    imported(tmp_path, "storage7.lab.example")
    capsys.readouterr()
    out = tmp_path / "mine.bundle"
    assert main(["bundle", "--data", "mine", "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert "'storage7.lab.example' looks like a host (manifest.experiments" in said and "--replace" in said
    assert not out.exists()
    words = ["--replace", "storage7.lab.example=A server", "--replace", "storage7-lab-example=server"]
    assert main(["bundle", "--data", "mine", "--out", str(out), *words]) == 0
    files = opened(out)["files"]
    assert files["imported-fio/aggregate/iops-randwrite.csv"]["text"].splitlines()[1].startswith("A server,")
    assert "storage7" not in gzip.decompress(out.read_bytes()).decode()


def in_folders(tmp_path: Path, *names: str) -> None:
    """Import a data set of which each chart is named after the folder of its runs."""
    files = {f"{name}/1.json": report(job(rw="read", operations=20_000 + at)) for at, name in enumerate(names)}
    assert main(["import", str(write(tmp_path / "mine", files)), "--data", "mine"]) == 0


def test_what_is_replaced_is_replaced_in_the_names_of_tables_as_well(tmp_path, benchmarks, capsys):
    in_folders(tmp_path, "storage7", "rack")
    out = tmp_path / "mine.bundle"
    assert main(["bundle", "--data", "mine", "--out", str(out)]) == 2
    assert main(["bundle", "--data", "mine", "--out", str(out), "--replace", "storage7=A server"]) == 0
    found = opened(out)
    assert "storage7" not in json.dumps(found)
    charts = json.loads(found["files"]["manifest.json"]["text"])["experiments"]["imported-fio"]["charts"]
    assert charts["iops-read-A server"]["path"] == "imported-fio/aggregate/iops-read-a-server.csv"
    assert {chart["path"] for chart in charts.values()} <= {*found["files"]}


def test_a_name_in_the_data_sets_name_is_refused_until_it_is_replaced_there_as_well(tmp_path, benchmarks, capsys):
    reports = write(tmp_path / "runs", {"1.json": report(job(rw="read", operations=20_000))})
    assert main(["import", str(reports), "--data", "storage7-night"]) == 0
    out = tmp_path / "night.bundle"
    assert main(["bundle", "--data", "storage7-night", "--out", str(out)]) == 2
    assert main(["bundle", "--data", "storage7-night", "--out", str(out), "--replace", "storage7=A server"]) == 0
    assert "\n  a-server-night    (data_set)" in capsys.readouterr().out
    assert opened(out)["data_set"] == "a-server-night"
    assert "storage7" not in gzip.decompress(out.read_bytes()).decode()


def test_a_machine_that_is_called_ceph_does_not_keep_its_name_from_leaving(monkeypatch):
    monkeypatch.setattr("replay.exchange.bundle.socket.gethostname", lambda: "ceph")
    monkeypatch.setattr("replay.exchange.bundle.getpass.getuser", lambda: "someone")
    assert _names_here() == {"someone"}


def test_two_tables_of_one_name_are_refused(tmp_path, benchmarks, capsys):
    in_folders(tmp_path, "storage7", "rack")
    out = tmp_path / "mine.bundle"
    assert main(["bundle", "--data", "mine", "--out", str(out), "--replace", "storage7=rack"]) == 2
    assert "two files would have this name" in capsys.readouterr().err
    assert not out.exists()


def test_on_a_full_disk_the_former_bundle_stays(tmp_path, benchmarks, monkeypatch, capsys):
    def full(path: Path, content: bytes) -> None:
        path.write_bytes(content[:9])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    imported(tmp_path)
    out = tmp_path / "mine.bundle"
    out.write_bytes(b"the former one")
    monkeypatch.setattr(durable, "write_synced", full)
    assert main(["bundle", "--data", "mine", "--out", str(out)]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert out.read_bytes() == b"the former one"


def test_altered_data_do_not_leave(tmp_path, benchmarks, capsys):
    imported(tmp_path)
    table = benchmarks / "mine/imported-fio/aggregate/iops-randwrite.csv"
    table.write_text(table.read_text() + "\n")
    assert main(["bundle", "--data", "mine", "--out", str(tmp_path / "m.bundle")]) == 3
    assert "altered" in capsys.readouterr().err
    assert not (tmp_path / "m.bundle").exists()
