"""From folders of results to a data set with tables: `replay import`."""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import math
import os
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from replay.base import stats
from replay.base.errors import EvidenceError
from replay.claims.data_set import derive_data_set
from replay.cli.main import main
from replay.evidence import durable
from replay.evidence.data_set import verified_members
from replay.evidence.read import list_raw, verify
from replay.exchange.importing import command, files
from support.commands import run_derive
from support.foreign_results import ELBENCHO_HEADER, elbencho_row, job, report, write
from support.samples import output


def imported(*words: object) -> int:
    return main(["import", *map(str, words)])


def import_mine(tmp_path: Path, files: Mapping[str, str | bytes]) -> None:
    """Import these files as the data set `mine`."""
    assert imported(write(tmp_path / "mine", files), "--data", "mine") == 0


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def left_out(data_set: Path) -> dict[str, str]:
    return {row["path"]: row["left_out"] for row in rows(data_set / "imported.csv") if row["left_out"]}


def sweep(rate: int) -> dict[str, str]:
    """Return reports of two sizes and three runs, each with another rate."""
    return {
        f"run-{number}/{size}.json": report(
            job(rw="randwrite", bs=size, operations=rate + 10 * number + factor), at=number
        )
        for number in (1, 2, 3)
        for factor, size in enumerate(("4k", "64k"))
    }


def test_a_folder_becomes_a_data_set_whose_figures_are_those_of_the_reports(tmp_path, benchmarks, capsys):
    import_mine(tmp_path, {**sweep(20_000), "notes.txt": "hello"})
    table = rows(benchmarks / "mine" / "imported-fio" / "tidy.csv")
    assert [(row["block"], row["io_size_bytes"], row["operations_per_second"]) for row in table] == [
        (str(block), size, str(rate))
        for block, first in ((1, 10_005), (2, 10_010), (3, 10_015))
        for size, rate in (("4096", first), ("65536", first + 0.5))
    ]
    chart = (benchmarks / "mine" / "imported-fio" / "aggregate" / "iops-randwrite.csv").read_text()
    assert chart == "I/O size,4096,65536\nmine,10010,10010.5\n"
    assert "imported-fio: 6 runs at 2 points, n = 3" in (printed := capsys.readouterr().out)
    assert "notes.txt: contains none of fio's results" in printed


def test_of_several_folders_the_others_are_divided_by_the_first(tmp_path, benchmarks, capsys):
    before, after = (write(tmp_path / name, sweep(rate)) for name, rate in (("Before", 20_000), ("after", 40_000)))
    assert imported(before, after, "--data", "both") == 0
    (first, _) = rows(benchmarks / "both" / "imported-fio" / "ratios.csv")[:2]
    pairs = [[base + 10 * number for number in (1, 2, 3)] for base in (40_000, 20_000)]
    expected = stats.paired_log_ratio(*pairs)
    assert (first["compared"], first["x"], first["n"]) == ("after", "4096", "3")
    for column, value in zip(("ratio", "low", "high"), expected, strict=False):
        assert math.isclose(float(first[column]), value, rel_tol=1e-8)
    assert "2 of 2 points are in both folders" in capsys.readouterr().out


def test_points_are_compared_among_the_folders_that_have_results_of_their_tool(tmp_path, benchmarks, capsys):
    first, second = (write(tmp_path / name, sweep(rate)) for name, rate in (("a", 20_000), ("b", 40_000)))
    other = write(tmp_path / "c", {"a.txt": output("rbd-bench-write-rand-4k.txt")})
    assert imported(first, second, other, "--data", "mine", "--dry-run") == 0
    printed = capsys.readouterr().out
    assert "2 of 2 points are in both folders that have such results" in printed
    assert printed.count("can be compared") == 1


def test_a_long_name_of_a_variant_ends_in_no_dash(tmp_path):
    assert [*command._variants_of([tmp_path / f"{'x' * 39}-more"])] == ["x" * 39]


def test_facts_that_nobody_recorded_are_not_in_the_evidence(tmp_path, benchmarks):
    import_mine(tmp_path, {"a.txt": output("rbd-bench-write-rand-4k.txt")})
    (pack,) = list_raw(benchmarks / "mine" / "imported-rbd-bench" / "raw").blocks
    documents = {
        name: json.loads(content)
        for name, content, _ in verified_members(pack.content(), pack.name)
        if name.endswith(".json")
    }
    assert len(documents) == 3
    for document in documents.values():
        assert document["origin"] == "imported"
        invented = {"host", "git_commit", "health", "seed", "exit_status", "started_at", "ended_at", "argv", "load"}
        assert invented & document.keys() == set()
    manifest = json.loads((benchmarks / "mine" / "manifest.json").read_text())
    assert (manifest["machines"], manifest["git_commits"], manifest["measured_from"]) == ([], [], None)
    assert manifest["limitation"].startswith("Imported")


def test_originals_are_packed_verbatim_with_their_digests_and_parts_of_them_are_their_bytes(tmp_path, benchmarks):
    whole, several = report(job()), "warning\n" + report(job("a"), job("b", rw="write", group=1))
    import_mine(tmp_path, {"whole.json": whole, "deep/er/several.json": several})
    raw = benchmarks / "mine" / "imported-fio" / "raw"
    assert any(verify(list_raw(raw)))
    members = {
        name: content
        for pack in list_raw(raw).blocks
        for name, content, _ in verified_members(pack.content(), pack.name, pack.digest)
    }
    originals = [content for name, content in members.items() if name.startswith("originals/")]
    assert originals == [several.encode()]
    assert whole.encode() in members.values()
    for name, content in members.items():
        if name.endswith("/mine.json"):
            sidecar = json.loads(content)
            (source,) = sidecar["sources"]
            original = {"whole.json": whole, "deep/er/several.json": several}[source["path"]].encode()
            ranges = source.get("byte_ranges", [[0, len(original)]])
            cut = b"".join(original[start:end] for start, end in ranges)
            assert members[f"{name.rpartition('/')[0]}/{sidecar['files']['output']}"] == cut


def test_deriving_again_changes_no_byte(tmp_path, benchmarks):
    import_mine(tmp_path, sweep(20_000))
    data_set = benchmarks / "mine"
    first = {path: path.read_bytes() for path in data_set.rglob("*") if path.is_file()}
    for path in first:
        derived = path.suffix == ".csv" and path.name != "imported.csv"
        if derived or path.name in ("experiment.json", "manifest.json"):
            path.unlink()
    derive_data_set(data_set)
    assert {path: path.read_bytes() for path in data_set.rglob("*") if path.is_file()} == first


def test_every_file_is_accounted_for(tmp_path, benchmarks, monkeypatch):
    outside = write(tmp_path / "outside", {"secret.json": report(job(bs="64k"))})
    folder = write(
        tmp_path / "mine",
        {
            "good.json": report(job()),
            "again/good.json": report(job()),
            "empty.json": "",
            "huge.json": "x" * 2_000_000,
            "binary": b"\0\1",
            "sub/ünï.json": "{}",
        },
    )
    monkeypatch.setattr(files, "MOST_BYTES", 1_000_000)
    (folder / "link.json").symlink_to(outside / "secret.json")
    (folder / "way-out").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe")
    (folder / os.fsdecode(b"\xff.json")).write_text("{}")
    assert imported(folder, "--data", "mine") == 0
    taken = [row for row in rows(benchmarks / "mine" / "imported.csv") if not row["left_out"]]
    digest = hashlib.sha256(report(job()).encode()).hexdigest()
    assert [(row["path"], row["sha256"], row["runs"]) for row in taken] == [("again/good.json", digest, "1")]
    why = left_out(benchmarks / "mine")
    assert why.pop("good.json") == "it contains the same run as again/good.json"
    assert why.pop("empty.json") == "it is empty"
    assert why.pop("huge.json").startswith("larger than")
    assert why.pop("binary") == "not text"
    assert why.pop("pipe") == "not a plain file"
    for name in ("link.json", "way-out", "loop"):
        assert why.pop(name) == "a symbolic link, which is not followed"
    assert sorted(why) == ["\\xff.json", "sub/ünï.json"]
    assert "65536" not in (benchmarks / "mine" / "imported-fio" / "tidy.csv").read_text()


def test_outputs_of_cbt_s_clients_are_one_run(tmp_path, benchmarks):
    text = output("rados-bench-write-4m.txt")
    other = text.replace(b"0.11391", b"0.11392")
    assert other != text
    base = "00000000/id-0a1b2c3d/op_size-04194304/concurrent_ops-00000016"
    depth = "numjobs-001/total_iodepth-2/iodepth-000001"
    fio = f"results/00000000/id-9f8e7d6c/4krandomread.host-1.example/{depth}"
    # CBT works here, and copies what it finds into its results.
    scratch = f"00000000/LibrbdFio/osd_ra-00004096/4krandomread/{depth}"
    second = report(job(rw="randread", rbdname="b", operations=10_000), at=2)
    write(
        tmp_path / "cbt",
        {
            f"{base}/write/output.0.one": text,
            f"{base}/write/output.1.two": other,
            f"{base}/write/json_output.0.one": '{"Total time run": "10.0", "Bandwidth (MB/sec)": "1"}',
            f"{base}/benchmark_config.yaml": "op_size: 4194304\n",
            f"{fio}/output.0": "starting\n" + report(job(rw="randread", rbdname="a"), at=1) + "\nread: IOPS=1\n",
            f"{fio}/json_output.0": report(job(rw="randread", rbdname="a"), at=1) + "\n",
            f"{fio}/output.1": second,
            f"{fio}/output.1_clat.1.log": "100, 2715666, 0, 0, 0\n201, 2779845, 0, 0, 0\n",
            f"{scratch}/output.1": second,
        },
    )
    assert imported(tmp_path / "cbt", "--data", "cbt", "--left-out") == 0
    (rados,) = rows(benchmarks / "cbt" / "imported-rados-bench" / "tidy.csv")
    (fios,) = rows(benchmarks / "cbt" / "imported-fio" / "tidy.csv")
    assert (rados["instances"], rados["threads"]) == ("2", "16")
    assert (fios["instances"], fios["jobs"], fios["operations_per_second"]) == ("2", "2", "15000")
    why = {path.rpartition("/")[2]: reason for path, reason in left_out(benchmarks / "cbt").items()}
    assert why["json_output.0"].startswith("it contains the same run as")
    assert why["output.1"] == f"it contains the same run as {fio}/output.1"
    assert why["json_output.0.one"].startswith("CBT's own summary")


CBT = "results/00000000/id-0a1b2c3d/randread"


def of_client(number: int, rw: str = "randread") -> str:
    return report(job(rw=rw, rbdname=f"image-{number}", operations=20_000 + number), at=number)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"output.1": of_client(1)[:400]}, "it ran at once with output.1, which cannot be read: not whole JSON"),
        ({"output.1": ""}, "it ran at once with output.1, which cannot be read: it is empty"),
        ({"output.1": of_client(1).replace('"error": 0', '"error": 5')}, "it ran at once with output.1"),
        ({"output.1": of_client(0)}, "it ran at once with output.1, which cannot be read: it contains the same run"),
        ({"output.1": None}, "it ran at once with output.1, which is not there"),
        ({"output.2": None, "../randwrite/output.2": of_client(2, "randwrite")},
         "it ran at once with output.2, which is not there"),
        ({"output.2": None, "../randwrite/output.2": ""}, "it ran at once with output.2, which is not there"),
    ],
)  # fmt: skip
def test_a_sum_without_one_of_its_clients_is_refused_and_names_it(tmp_path, benchmarks, changed, why):
    outputs = {f"output.{number}": of_client(number) for number in range(3)} | changed
    write(tmp_path / "cbt", {f"{CBT}/{name}": text for name, text in outputs.items() if text is not None})
    write(tmp_path / "cbt", {"other.json": report(job(rw="read"))})
    assert imported(tmp_path / "cbt", "--data", "cbt") == 0
    table = rows(benchmarks / "cbt" / "imported-fio" / "tidy.csv")
    assert "randread" not in {row["rw"] for row in table}
    assert left_out(benchmarks / "cbt")[f"{CBT}/output.0"].startswith(why)


@pytest.mark.parametrize("below", ["", "randread/"])
def test_outputs_of_clients_are_one_run_also_if_the_folder_that_says_so_was_named(tmp_path, benchmarks, below):
    names = [f"id-{digest}/{below}output.{number}" for digest in ("0a1b2c3d", "1b2c3d4e") for number in range(3)]
    write(tmp_path / "results", {name: of_client(int(name[-1])) for name in names})
    # An output that CBT extracted is a copy, and none that is lost.
    write(tmp_path / "results", {f"id-0a1b2c3d/{below}json_output.0": of_client(0)})
    assert imported(tmp_path / "results", "--variants", "--data", "cbt") == 0
    table = rows(benchmarks / "cbt" / "imported-fio" / "tidy.csv")
    assert sorted((row["variant"], row["instances"]) for row in table) == [("id-0a1b2c3d", "3"), ("id-1b2c3d4e", "3")]


def test_names_that_differ_in_digits_are_repetitions_and_the_import_says_so(tmp_path, benchmarks, capsys):
    files = {f"ceph-{release}/4k.json": report(job(rw="read", operations=20_000 + release)) for release in (17, 18)}
    write(tmp_path / "mine", files)
    assert imported(tmp_path / "mine", "--data", "pooled") == 0
    printed = capsys.readouterr().out
    assert "taken for repetitions: ceph-17/, ceph-18/" in printed
    assert "or their folder with --variants" in printed
    assert imported(tmp_path / "mine", "--data", "apart", "--variants") == 0
    printed = capsys.readouterr().out
    assert "taken for repetitions" not in printed
    assert "1 of 1 point is in both folders" in printed
    variants = {row["variant"] for row in rows(benchmarks / "apart" / "imported-fio" / "tidy.csv")}
    assert variants == {"ceph-17", "ceph-18"}


def test_runs_are_repetitions_whatever_their_names_if_a_person_says_so(tmp_path, benchmarks, capsys):
    write(tmp_path / "mine", {f"{day}.json": report(job(rw="read", operations=of)) for day, of in
                              (("monday", 20_000), ("tuesday", 20_002))})  # fmt: skip
    assert imported(tmp_path / "mine", "--data", "apart") == 0
    assert "n = 1" in capsys.readouterr().out
    assert imported(tmp_path / "mine", "--data", "pooled", "--repetitions") == 0
    assert "n = 2" in capsys.readouterr().out


@pytest.mark.parametrize("content", [{"a.json": "{}"}, {}])
def test_variants_need_one_folder_with_folders(tmp_path, benchmarks, capsys, content):
    (tmp_path / "mine").mkdir()
    write(tmp_path / "mine", content)
    assert imported(tmp_path / "mine", "--data", "x", "--variants") == 2
    assert "--variants: there is no folder in it" in capsys.readouterr().err


def test_without_folders_the_archives_in_one_folder_are_variants(tmp_path, benchmarks, capsys):
    for name, rate in (("v17", 20_000), ("v18", 40_000)):
        folder = write(tmp_path / name, sweep(rate))
        shutil.make_archive(str(tmp_path / "releases" / name), "gztar", folder)
    write(tmp_path / "releases", {"notes.txt": "hello"})
    assert imported(tmp_path / "releases", "--data", "x", "--variants") == 0
    printed = capsys.readouterr().out
    assert "beside the variants, and not read: notes.txt" in printed
    assert "2 of 2 points are in both folders" in printed


def test_a_folder_may_be_called_like_a_document_of_the_evidence_or_have_bytes_for_a_name(tmp_path, benchmarks):
    for name in ("attempt", os.fsdecode(b"f\xfcr")):
        write(tmp_path / name, sweep(20_000))
    assert imported(tmp_path / "attempt", tmp_path / os.fsdecode(b"f\xfcr"), "--data", "mine") == 0
    table = rows(benchmarks / "mine" / "imported-fio" / "tidy.csv")
    assert {row["variant"] for row in table if row["used"] == "1"} == {"attempt-2", "f-xfcr"}


def test_what_a_number_of_a_configuration_stands_for_is_printed(tmp_path, benchmarks, capsys):
    write(tmp_path / "mine", {f"{at}.json": report(job(rw="read", direct=at, nrfiles=at, size=f"{at}g", loops=at))
                              for at in "12"})  # fmt: skip
    assert imported(tmp_path / "mine", "--data", "mine", "--dry-run") == 0
    assert "    02: direct=2; loops=2; nrfiles=2; size=2g\n" in capsys.readouterr().out


def test_what_a_person_should_know_is_printed_and_kept(tmp_path, benchmarks, capsys):
    import_mine(tmp_path, {"a.json": report(job(rw="randread", ioengine="psync", iodepth="16"))})
    printed = capsys.readouterr().out
    note = "psync had 1 operation in flight, whatever iodepth said"
    assert note in printed
    assert "n = 1: each point has a single run" in printed
    (row,) = [row for row in rows(benchmarks / "mine" / "imported.csv") if row["runs"] == "1"]
    assert row["notes"] == note
    (row,) = rows(benchmarks / "mine" / "imported-fio" / "tidy.csv")
    assert row["io_depth"] == "1"


def test_an_option_that_differs_between_the_folders_is_named_first(tmp_path, benchmarks, capsys):
    for direct in "01":
        write(tmp_path / direct, {"a.json": report(job(rw="read", direct=direct))})
    assert imported(tmp_path / "0", tmp_path / "1", "--data", "mine") == 0
    assert capsys.readouterr().out.splitlines()[1] == "  direct differs: 0 in 0, 1 in 1"


def test_another_version_or_day_of_a_folder_is_named_with_the_options(tmp_path, benchmarks, capsys):
    for name, version, at in (("old", "fio-3.33", 0), ("new", "fio-3.41", 200_000)):
        write(tmp_path / name, {"a.json": report(job(rw="read"), version=version, at=at)})
    assert imported(tmp_path / "old", tmp_path / "new", "--data", "mine") == 0
    assert capsys.readouterr().out.splitlines()[1:3] == [
        "  version of the tool differs: fio-3.33 in old, fio-3.41 in new",
        "  measured on differs: 2023-11-14 in old, 2023-11-17 in new",
    ]


def test_a_version_or_a_day_that_folders_share_does_not_tell_them_apart(tmp_path, benchmarks, capsys):
    write(tmp_path / "a", {"a.json": report(job(rw="read"))})
    write(tmp_path / "b", {f"run-{at}.json": report(job(rw="read"), version=f"fio-3.3{at}", at=at) for at in (3, 4)})
    assert imported(tmp_path / "a", tmp_path / "b", "--data", "mine") == 0
    assert " differs" not in capsys.readouterr().out


def test_reads_and_writes_of_a_mix_have_charts_of_their_own(tmp_path, benchmarks):
    import_mine(tmp_path, {f"{size}.json": report(job(rw="randrw", rwmixread="50", bs=size)) for size in ("4k", "64k")})
    charts = {path.stem for path in (benchmarks / "mine" / "imported-fio" / "aggregate").glob("*.csv")}
    for metric in ("iops", "latency-mean", "latency-p99"):
        for which in ("read", "write"):
            assert any(chart.startswith(f"{which}-{metric}-randrw") for chart in charts), charts


def test_what_fio_logged_over_time_is_drawn_over_time(tmp_path, benchmarks):
    options = {"write_iops_log": "logs/a", "write_lat_log": "logs/a", "log_avg_msec": "1000"}
    import_mine(
        tmp_path,
        {
            "a.json": report(job(rw="randread", bs="4k", **options)),
            "a_iops.1.log": "1000, 10000, 0, 0, 0\n2000, 10000, 0, 0, 0\n",
            "a_clat.1.log": "1000, 200000, 0, 0, 0\n2000, 200000, 0, 0, 0\n",
            "stray_iops.1.log": "1000, 10000, 0, 0, 0\n",
        },
    )
    charts = {path.stem for path in (benchmarks / "mine" / "imported-fio" / "aggregate").glob("*over-time*.csv")}
    assert any(chart.startswith("iops-over-time") for chart in charts)
    assert left_out(benchmarks / "mine") == {
        "stray_iops.1.log": "looks like one of fio's logs over time, of no report beside it"
    }


@pytest.mark.parametrize("name", ["rados-bench-write-4m.txt", "rbd-bench-read-rand-4k.txt"])
def test_rows_of_ceph_s_tools_are_drawn_over_time(tmp_path, benchmarks, name):
    import_mine(tmp_path, {"a.txt": output(name)})
    assert list((benchmarks / "mine").glob("imported-*/aggregate/iops-over-time*.csv")) != []


def test_a_write_and_a_read_of_rados_bench_are_two_points_although_a_read_states_no_threads(tmp_path, benchmarks):
    command, read = output("rados-bench-seq-4m.txt").split(b"\n", 1)
    assert command.startswith(b"$ rados")
    import_mine(tmp_path, {"write.txt": output("rados-bench-write-4m.txt"), "read.txt": read})
    found = rows(benchmarks / "mine" / "imported-rados-bench" / "tidy.csv")
    assert {row["mode"]: row["threads"] for row in found} == {"write": "16", "read": "unstated"}
    assert all(float(row["operations_per_second"]) > 0 for row in found)


def test_runs_without_a_number_that_all_state_are_points_of_their_own(tmp_path, benchmarks):
    mixed = job(rw="randread")
    mixed["read"] |= {"total_ios": 20_000, "io_bytes": 20_000 * 5000 + 123}
    mixed["read"]["bw_bytes"] = mixed["read"]["io_bytes"] // 2
    import_mine(tmp_path, {"odd.json": report(mixed, version="fio-3.1", group_reporting="1")})
    (row,) = rows(benchmarks / "mine" / "imported-fio" / "tidy.csv")
    assert (row["io_size_bytes"], row["operations_per_second"]) == ("unstated", "10000")


# Afterwards ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (EvidenceError("no table can be made", next_step="-"), 3),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "tidy.csv"), 1),
        (TypeError("can't multiply"), None),
        (MemoryError(), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_import_whose_tables_cannot_be_made_leaves_nothing(tmp_path, benchmarks, monkeypatch, error, status):
    def fail(data_set: Path) -> None:
        (data_set / "imported-fio" / "tidy.csv").write_text("half of a")
        raise error

    monkeypatch.setattr(command, "derive_data_set", fail)
    write(tmp_path / "mine", sweep(20_000))
    if status is None:
        with pytest.raises(type(error)):
            imported(tmp_path / "mine", "--data", "mine")
    else:
        assert imported(tmp_path / "mine", "--data", "mine") == status
    assert list(benchmarks.iterdir()) == []


def test_an_import_whose_name_cannot_be_written_to_disk_leaves_nothing(tmp_path, benchmarks, monkeypatch, capsys):
    def fail(folder: Path) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(folder))

    monkeypatch.setattr(durable, "sync_directory", fail)
    write(tmp_path / "mine", sweep(20_000))
    assert imported(tmp_path / "mine", "--data", "mine") == 2
    assert "cannot be written" in capsys.readouterr().err
    assert list(benchmarks.iterdir()) == []


def test_an_import_that_was_interrupted_says_how_its_tables_are_made(tmp_path, benchmarks, monkeypatch, capsys):
    class Killed(BaseException):
        pass

    def interrupt(data_set: Path) -> None:
        raise Killed

    write(tmp_path / "mine", sweep(20_000))
    with monkeypatch.context() as patch:
        patch.setattr(command, "derive_data_set", interrupt)
        with pytest.raises(Killed):
            imported(tmp_path / "mine", "--data", "mine")
    assert imported(tmp_path / "mine", "--data", "mine") == 2
    said = capsys.readouterr().err
    assert "this was imported, but its tables were not made" in said
    assert "derive --data mine" in said
    assert run_derive(["--data", "mine"]) == 0
    assert (benchmarks / "mine" / "manifest.json").exists()


@pytest.mark.parametrize(("second", "status"), [("second", 0), ("first", 2)])
def test_of_two_imports_at_once_one_waits_and_is_refused_if_both_have_one_name(
    tmp_path, benchmarks, monkeypatch, second, status
):
    """The second begins while the first has its lock, and waits until the first is done."""
    write(tmp_path / "mine", sweep(20_000))
    put_in_place, statuses = command.durable.put_in_place, []
    other = threading.Thread(target=lambda: statuses.append(imported(tmp_path / "mine", "--data", second)))

    def meanwhile(working: Path, final: Path) -> None:
        if not other.ident:
            other.start()
        put_in_place(working, final)

    monkeypatch.setattr(command.durable, "put_in_place", meanwhile)
    assert imported(tmp_path / "mine", "--data", "first") == 0
    other.join()
    assert statuses == [status]
    assert {path.name for path in benchmarks.iterdir() if path.is_dir()} == {"first", second}
    for name in ("first", second):
        assert len(rows(benchmarks / name / "imported-fio" / "tidy.csv")) == 6


# What is read --------------------------------------------------------------------------------------------------------


def test_bench_fio_s_folders_and_elbencho_s_rows_are_read(tmp_path, benchmarks):
    files = {
        f"sda/4k/run-{run}/randread-{depth}-{jobs}.json": report(
            job(rw="randread", iodepth=str(depth), numjobs=str(jobs), operations=20_000 + depth), at=run
        )
        for run in (1, 2)
        for depth in (1, 2, 4)
        for jobs in (1, 8)
    }
    files["elbencho.csv"] = ELBENCHO_HEADER + "".join(
        elbencho_row(size=size, iops=iops) for size in (4096, 65536) for iops in (5000, 5100)
    )
    import_mine(tmp_path, files)
    aggregates = benchmarks / "mine" / "imported-fio" / "aggregate"
    assert (aggregates / "iops-randread-8.csv").read_text() == (
        "series,x,y,low,high,n\nmine,1,10000.5,10000.5,10000.5,2\n"
        "mine,2,10001,10001,10001,2\nmine,4,10002,10002,10002,2\n"
    )
    table = rows(benchmarks / "mine" / "imported-elbencho" / "tidy.csv")
    assert [(row["block"], row["io_size_bytes"], row["operations_per_second"]) for row in table] == [
        ("1", "4096", "5000"), ("1", "65536", "5000"), ("2", "4096", "5100"), ("2", "65536", "5100"),
    ]  # fmt: skip


def test_a_sweep_is_drawn_along_each_of_its_numbers(tmp_path, benchmarks):
    files = {
        f"{size}/randread-{depth}-{jobs}.json": report(
            job(
                rw="randread", bs=size, iodepth=str(depth), numjobs=str(jobs), operations=20_000 + 10 * depth + 2 * jobs
            )
        )
        for size in ("4k", "64k")
        for depth in (1, 2, 4)
        for jobs in (1, 8)
    }
    import_mine(tmp_path, files)
    aggregates = benchmarks / "mine" / "imported-fio" / "aggregate"
    assert (aggregates / "iops-by-jobs-randread-4096.csv").read_text().splitlines()[:4] == [
        "series,x,y,low,high,n",
        "Jobs 1,1,10006,10006,10006,1",
        "Jobs 1,2,10011,10011,10011,1",
        "Jobs 1,4,10021,10021,10021,1",
    ]
    assert (aggregates / "iops-by-queue-depth-randread-8.csv").read_text().splitlines()[1:3] == [
        "Queue depth 1,4096,10013,10013,10013,1",
        "Queue depth 1,65536,10013,10013,10013,1",
    ]
    chart = json.loads((benchmarks / "mine" / "manifest.json").read_text())["experiments"]["imported-fio"]["charts"][
        "iops-by-jobs-randread-65536"
    ]
    assert (chart["rows"], chart["x"]["factor"]) == ("jobs", "io_depth")
    assert chart["workload"] == {"rw": "randread", "io_size_bytes": 65536}
    assert "column" not in chart


def test_folders_without_a_known_result_are_an_error_and_nothing_is_written(tmp_path, benchmarks, capsys):
    write(tmp_path / "mine", {"a.txt": "hello", "b.json": report(job(), version="fio-1.59")})
    assert imported(tmp_path / "mine", "--data", "mine") == 2
    said = capsys.readouterr()
    assert "none of the 2 files contains a result that Replay can read" in said.err
    assert "b.json: a report of 'fio-1.59'" in said.out
    assert list(benchmarks.iterdir()) == []


def test_a_dry_run_says_the_same_and_writes_nothing(tmp_path, benchmarks, capsys):
    write(tmp_path / "mine", sweep(20_000))
    assert imported(tmp_path / "mine", "--data", "mine", "--dry-run") == 0
    assert "imported-fio: 6 runs at 2 points, n = 3" in capsys.readouterr().out
    assert list(benchmarks.iterdir()) == []


def test_a_data_set_is_never_written_over(tmp_path, benchmarks, capsys):
    import_mine(tmp_path, sweep(20_000))
    before = (benchmarks / "mine" / "imported.csv").read_bytes()
    assert imported(tmp_path / "mine", "--data", "mine") == 2
    assert "there is already a data set of this name" in capsys.readouterr().err
    assert (benchmarks / "mine" / "imported.csv").read_bytes() == before


def test_a_file_that_cannot_be_read_is_left_out_and_named(tmp_path, benchmarks, monkeypatch):
    folder = write(tmp_path / "mine", {**sweep(20_000), "broken.json": report(job())})
    read = Path.read_bytes

    def broken(path):
        if path.name == "broken.json":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", broken)
    assert imported(folder, "--data", "mine") == 0
    assert left_out(benchmarks / "mine") == {"broken.json": f"it cannot be read: {os.strerror(errno.EIO)}"}


def test_a_file_that_changes_meanwhile_ends_it_and_leaves_nothing_behind(tmp_path, benchmarks, monkeypatch, capsys):
    folder = write(tmp_path / "mine", sweep(20_000))

    def changed(*arguments, **options):
        (folder / "run-1" / "4k.json").write_text(report(job(operations=7)))
        return experiments_of(*arguments, **options)

    experiments_of = command.experiments_of
    monkeypatch.setattr(command, "experiments_of", changed)
    assert imported(folder, "--data", "mine") == 3
    assert "run-1/4k.json: it changed while it was imported" in capsys.readouterr().err
    assert list(benchmarks.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "there is no such folder"),
        (["mine/run-1/4k.json"], "is a file, not a folder"),
        (["mine", "mine/run-1"], "its files would count twice"),
        (["mine", "mine"], "its files would count twice"),
    ],
)
def test_a_path_that_is_not_a_folder_is_named(tmp_path, benchmarks, monkeypatch, capsys, words, said):
    write(tmp_path / "mine", sweep(20_000))
    monkeypatch.chdir(tmp_path)
    assert imported(*words, "--data", "x") == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("everything", [True, False])
def test_the_reason_of_what_is_left_out_cannot_command_the_terminal(everything, capsys):
    left = files.LeftOut(0, "mine/a.json", "\x1b[2Jjob: there is no sum")
    command._say_left_out([left], everything=everything)
    assert r"mine/a.json: \x1b[2Jjob: there is no sum" in capsys.readouterr().out
