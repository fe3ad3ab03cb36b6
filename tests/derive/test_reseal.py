"""Raw files altered in a copy to see what other figures would say: it is resealed, and never passes as measured."""

import contextlib
import hashlib
import json
import shutil
import subprocess

import pytest

from replay.base.errors import EvidenceError, ReplayError
from replay.base.paths import ROOT
from replay.claims.workflow.dataset import derive_data_set
from replay.claims.workflow.watch import Watcher
from replay.cli.derive_command import main
from replay.derive.reseal import reseal
from replay.evidence.copies import ALTERED, read_stamp
from replay.evidence.pack import write_pack
from replay.evidence.sums import sums_text
from support.datasets import (
    POINT,
    STDOUT,
    SUMS,
    append_raw,
    claims_of,
    content_of,
    copied,
    digests,
    manifest_of,
    measured,
    pack_of,
    put_back,
    remove,
    rows_of,
    set_ratio,
)
from support.evidence import members_of, pack_again
from support.rawtree import RawTree

CLAIM = "journal-4k-seq-write"


# What a resealed copy says


def test_altered_figures_change_a_verdict_and_everything_derived_says_that_they_are_altered(benchmarks, capsys):
    measured(benchmarks / "mine", blocks=6)
    assert main(["--data", "mine"]) == 0
    before = digests(benchmarks / "mine")
    assert claims_of(benchmarks / "mine")["claims"][CLAIM]["verdict"] == "held"
    copy = copied(benchmarks / "mine", benchmarks / "what-if")
    set_ratio(copy, 2)
    capsys.readouterr()

    assert main(["--reseal", "what-if"]) == 0

    said = capsys.readouterr().out
    assert f"altered: {STDOUT}" in said
    assert "ALTERED DATA: what-if is a copy of 'mine' of which 6 raw files are not as measured" in said
    document = claims_of(copy)
    claim = document["claims"][CLAIM]
    assert document["altered"] is True
    assert claim["verdict"] == "refuted"
    assert claim["conditions"]["ratio"]["estimate"] == pytest.approx(2, rel=1e-5)
    (row,) = (row for row in rows_of(copy / "claims.csv") if row["id"] == CLAIM)
    assert (row["verdict"], float(row["estimate"])) == ("refuted", claim["conditions"]["ratio"]["estimate"])
    assert row["altered"] == "true"
    (drawn,) = (
        row["4096"]
        for row in rows_of(copy / "rbd-journaling/aggregate/ratio-throughput-write-seq.csv")
        if row["I/O size"] == "With journal"
    )
    assert float(f"{float(drawn):.6g}") == claim["conditions"]["ratio"]["estimate"]
    assert manifest_of(copy)["altered"] == {"copied_from": "mine", "files": 6}
    package = json.loads((copy / "datapackage.json").read_text())
    assert package["title"].startswith("ALTERED DATA")
    assert "6 raw files are not as measured" in package["description"]
    assert digests(benchmarks / "mine") == before


@pytest.mark.parametrize(("ratio", "verdict"), [(10, "held"), (1.2, "refuted")])
def test_what_the_talk_says_about_the_shipped_data_follows_the_altered_figures(benchmarks, ratio, verdict):
    copy = part_of_the_shipped_data(benchmarks / "what-if")
    derive_data_set(copy)
    shipped = claims_of(ROOT / "benchmarks" / "pacific")["claims"][CLAIM]
    kept = claims_of(copy)["claims"][CLAIM]
    assert (kept["verdict"], kept["conditions"]["ratio"]["estimate"]) == (
        shipped["verdict"],
        shipped["conditions"]["ratio"]["estimate"],
    )
    paths = set_ratio(copy, ratio)
    reseal(copy)
    derive_data_set(copy)
    claim = claims_of(copy)["claims"][CLAIM]
    assert claim["verdict"] == verdict
    assert claim["conditions"]["ratio"]["estimate"] == pytest.approx(ratio, rel=1e-4)
    assert manifest_of(copy)["altered"] == {"copied_from": "pacific", "files": len(paths)}


def part_of_the_shipped_data(data_set):
    """Copy the parts of the shipped data set that the claim needs: one point's sets, the designs, the receipts."""
    source, target = ROOT / "benchmarks" / "pacific", data_set / "rbd-journaling" / "raw"
    target.mkdir(parents=True)
    sums = {}
    for path in sorted((source / "rbd-journaling" / "raw").glob("[bd]*")):
        if path.name.startswith("design-"):
            shutil.copy(path, target)
        else:
            files = {
                name: content
                for name, content in members_of(path).items()
                if f"/{POINT}/" in name or "/receipt-" in name
            }
            inside = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
            write_pack(target / path.name, inside, files.__getitem__, "")
        sums[path.name] = hashlib.sha256((target / path.name).read_bytes()).hexdigest()
    (target / "SHA256SUMS").write_bytes(sums_text(sums))
    shutil.copy(source / "campaign.json", data_set)
    return data_set


def test_the_stamp_names_each_file_with_the_digest_it_had_and_the_one_it_has(copy):
    lost, had = STDOUT.replace(".stdout", ".stderr"), hashlib.sha256(content_of(copy, STDOUT)).hexdigest()
    remove(copy, lost)
    append_raw(copy)
    reseal(copy)
    assert json.loads((copy / ALTERED).read_text()) == {
        "schema_version": 1,
        "copied_from": "mine",
        "files": [
            {
                "path": lost,
                "recorded_sha256": hashlib.sha256(b"").hexdigest(),
                "found_sha256": None,
            },
            {
                "path": STDOUT,
                "recorded_sha256": had,
                "found_sha256": hashlib.sha256(content_of(copy, STDOUT)).hexdigest(),
            },
        ],
    }
    assert lost.partition("/raw/")[2] not in members_of(pack_of(copy, lost))["SHA256SUMS"].decode()


def test_sha256sum_agrees_with_a_resealed_copy_and_no_other_line_has_changed(copy):
    before = (copy / SUMS).read_text().splitlines()
    append_raw(copy)
    reseal(copy)
    after = (copy / SUMS).read_text().splitlines()
    assert [new[66:] for old, new in zip(before, after, strict=True) if old != new] == [pack_of(copy, STDOUT).name]
    done = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=(copy / SUMS).parent)
    assert done.returncode == 0


def test_resealing_again_adds_to_the_stamp_and_counts_each_file_once(copy):
    append_raw(copy)
    reseal(copy)
    append_raw(copy)
    append_raw(copy, STDOUT.replace("with-journal", "control"))
    reseal(copy)
    stamp = read_stamp(copy)
    first, *second = stamp.files
    assert [one.path for one in second] == [STDOUT.replace("with-journal", "control"), STDOUT]
    assert second[1].recorded_sha256 == first.found_sha256
    assert stamp.summary() == {"copied_from": "mine", "files": 2}


def test_a_removed_file_that_is_put_back_is_listed_again_but_the_copy_stays_stamped(copy):
    content, listed = content_of(copy, STDOUT), (copy / SUMS).read_text()
    remove(copy)
    reseal(copy)
    with pytest.raises(ReplayError, match=r"with-journal\.stdout"):
        derive_data_set(copy)
    put_back(copy, content)
    (file,) = reseal(copy)
    assert file.recorded_sha256 == file.found_sha256 == hashlib.sha256(content).hexdigest()
    assert sorted((copy / SUMS).read_text().splitlines()) == sorted(listed.splitlines())
    derive_data_set(copy)
    assert manifest_of(copy)["altered"] == {"copied_from": "mine", "files": 1}
    assert reseal(copy) == []


def test_a_copy_of_an_altered_copy_is_altered_too(copy, capsys):
    append_raw(copy)
    reseal(copy)
    copied(copy, copy.with_name("again"))
    assert main(["--data", "again"]) == 0
    assert "ALTERED DATA" in capsys.readouterr().out
    assert manifest_of(copy.with_name("again"))["altered"] == {"copied_from": "mine", "files": 1}


def test_a_set_whose_attempt_was_removed_is_no_longer_measured(copy):
    attempt = STDOUT.partition("/raw/")[2].rpartition("/")[0]
    pack_again(pack_of(copy, STDOUT), lambda name, content: None if name.startswith(attempt) else content)
    reseal(copy)
    derive_data_set(copy)
    assert {row["point"] for row in rows_of(copy / "rbd-journaling" / "tidy.csv")} == {
        "read-seq-4096",
        "read-seq-65536",
        "write-seq-65536",
    }


def test_a_pack_that_was_removed_or_whose_list_was_changed_counts_as_altered(benchmarks):
    measured(benchmarks / "mine", blocks=2)
    copy = copied(benchmarks / "mine", benchmarks / "what-if")
    first, second = sorted((copy / SUMS).parent.glob("block-*.tar.gz"))
    had = {pack.name: hashlib.sha256(pack.read_bytes()).hexdigest() for pack in (first, second)}
    whole = first.read_bytes()
    first.unlink()
    member = STDOUT.partition("/raw/")[2].replace("block-01", "block-02")

    files = members_of(second)

    def with_its_list(name, content):
        if name == "SHA256SUMS":
            old, new = (hashlib.sha256(text).hexdigest() for text in (files[member], files[member] + b"x"))
            return content.replace(old.encode(), new.encode())
        return content + b"x" if name == member else content

    pack_again(second, with_its_list)
    removed, changed = reseal(copy)
    assert (removed.path, removed.recorded_sha256, removed.found_sha256) == (
        f"rbd-journaling/raw/{first.name}", had[first.name], None,
    )  # fmt: skip
    assert (changed.path, changed.recorded_sha256) == (f"rbd-journaling/raw/{second.name}", had[second.name])
    assert changed.found_sha256 == hashlib.sha256(second.read_bytes()).hexdigest()
    first.write_bytes(whole)
    (back,) = reseal(copy)
    assert back.path == f"rbd-journaling/raw/{first.name}"
    assert first.name in (copy / SUMS).read_text()
    assert manifest_of_derived(copy)["altered"] == {"copied_from": "mine", "files": 2}


def manifest_of_derived(copy):
    with contextlib.suppress(ReplayError):
        derive_data_set(copy)
    return manifest_of(copy)


# What is not altered


def test_a_pack_that_was_packed_again_without_a_change_is_unaltered(copy):
    before = digests(copy)
    pack_again(pack_of(copy, STDOUT), lambda name, content: content)
    assert digests(copy) != before
    assert reseal(copy) == []
    assert digests(copy) == before
    assert not (copy / ALTERED).exists()


def test_without_an_alteration_it_says_so_and_does_not_stamp(copy, capsys):
    before = digests(copy)
    assert main(["--reseal", "what-if"]) == 0
    assert "nothing to reseal" in capsys.readouterr().out
    assert not (copy / ALTERED).exists()
    assert manifest_of(copy)["altered"] is False
    assert {name: digest for name, digest in digests(copy).items() if name in before} == before


def test_a_copy_that_was_only_renamed_derives_as_usual(copy, capsys):
    assert main(["--data", "what-if"]) == 0
    assert "ALTERED" not in capsys.readouterr().out
    assert manifest_of(copy)["altered"] is False
    assert "title" not in json.loads((copy / "datapackage.json").read_text())


# Without --reseal


def test_without_reseal_an_altered_or_missing_file_is_an_error_whose_next_step_names_reseal(copy, capsys):
    for change in (append_raw, remove):
        change(copy)
        assert main(["--data", "what-if"]) == 3
        said = capsys.readouterr().err
        assert str(pack_of(copy, STDOUT)) in said
        assert STDOUT.partition("/raw/")[2] in said
        assert "alter a copy of the data set, then run: ./replay derive --reseal COPY" in said


def test_raw_output_without_its_sha256sums_is_an_error_that_names_it_and_the_rest_is_derived(copy, capsys):
    RawTree(copy / "other").measure()
    (copy / SUMS).unlink()
    assert main(["--data", "what-if"]) == 3
    assert str(copy / SUMS) in capsys.readouterr().err
    assert (copy / "other" / "tidy.csv").exists()
    with pytest.raises(EvidenceError, match="SHA256SUMS"):
        reseal(copy)
    told = []
    watcher = Watcher(copy, ("rbd-journaling",), told.append)
    assert (watcher.look(), watcher.look(), len(told)) == ([], [], 1)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"schema_version": 1, "copied_from": "mine", "files": []}', '{"files": [{"path": "x"}]}'],
)
def test_a_stamp_that_cannot_be_read_is_an_error_and_never_taken_for_unaltered(copy, capsys, text):
    (copy / ALTERED).write_text(text)
    for arguments in (["--data", "what-if"], ["--reseal", "what-if"]):
        append_raw(copy)
        assert main(arguments) == 3
        assert str(copy / ALTERED) in capsys.readouterr().err
    with pytest.raises(ReplayError):
        derive_data_set(copy)
    assert not (copy / "manifest.json").exists()
