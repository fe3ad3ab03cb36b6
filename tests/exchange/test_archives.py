"""Archives count as folders: what is read of them, and what nobody may do with them."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from replay.cli.main import main
from replay.exchange.importing import files
from replay.exchange.importing.files import LeftOut, SourceFile, files_below, in_order, name_of
from support.foreign_results import job, report, write
from support.hostile import at_most


def tarred(contents: Mapping[str, bytes], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def zipped(contents: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def below(tmp_path: Path, *folders: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the files below the folders by their paths, and why others are left out."""
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir(exist_ok=True)
    found = list(files_below(list(folders), unpacked))
    assert [one.path for one in found] == sorted((one.path for one in found), key=in_order)
    return (
        {one.path: one.location.read_bytes() for one in found if isinstance(one, SourceFile)},
        {one.path: one.why for one in found if isinstance(one, LeftOut)},
    )


CONTENTS = {"run-1/4k.json": b"one", "run-2/4k.json": b"two"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.zip", zipped(CONTENTS)),
        ("a.tar", tarred(CONTENTS, "w")),
        ("a.tar.gz", tarred(CONTENTS)),
        ("without-an-ending", tarred(CONTENTS)),
    ],
    ids=["zip", "tar", "tar.gz", "without-an-ending"],  # An archive has the time at which it was made.
)
def test_an_archive_is_a_folder(tmp_path, name, content):
    folder = write(tmp_path / "mine", {name: content, "4k.json": b"three"})
    expected = {f"{name}/{path}": text for path, text in CONTENTS.items()}
    assert below(tmp_path, folder) == ({"4k.json": b"three", **expected}, {})


def test_a_packed_file_is_the_file(tmp_path):
    folder = write(tmp_path / "mine", {"4k.json.gz": gzip.compress(b"one")})
    assert below(tmp_path, folder) == ({"4k.json.gz": b"one"}, {})


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tgz"])
def test_an_archive_can_be_named_like_a_folder(tmp_path, name):
    folder = write(tmp_path, {name: zipped(CONTENTS) if name.endswith("zip") else tarred(CONTENTS)})
    assert below(tmp_path, folder / name) == (CONTENTS, {})
    assert name_of(folder / name) == "a"


def test_archives_in_an_archive_are_read_but_not_without_end(tmp_path):
    content, path = zipped({"4k.json": b"one"}), "4k.json"
    for depth in range(files.DEEPEST):
        content, path = zipped({f"{depth}.zip": content}), f"{depth}.zip/{path}"
    assert below(tmp_path, write(tmp_path / "mine", {"a.zip": content})) == ({f"a.zip/{path}": b"one"}, {})
    _, why = below(tmp_path, write(tmp_path / "other", {"a.zip": zipped({"deeper.zip": content})}))
    assert list(why.values()) == ["an archive in an archive in an archive"]


@pytest.mark.parametrize("name", ["../evil.json", "/evil.json", "run/../../evil.json"])
@pytest.mark.parametrize("packed", [zipped, tarred])
def test_a_name_that_leads_out_of_the_archive_is_refused(tmp_path, packed, name):
    folder = write(tmp_path / "mine", {"a.archive": packed({name: b"evil", "good.json": b"good"})})
    read, why = below(tmp_path, folder)
    assert read == {"a.archive/good.json": b"good"}
    assert list(why.values()) == ["its name leads out of the archive"]
    assert [path.name for path in tmp_path.rglob("evil*")] == []


def test_links_and_devices_of_an_archive_are_not_followed(tmp_path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for kind, name in ((tarfile.SYMTYPE, "link"), (tarfile.LNKTYPE, "hard"), (tarfile.CHRTYPE, "device")):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    link = "a symbolic link, which is not followed"
    expected = {"a.tar/link": link, "a.tar/hard": link, "a.tar/device": "not a plain file"}
    assert below(tmp_path, write(tmp_path / "mine", {"a.tar": buffer.getvalue()})) == ({}, expected)


def test_of_an_archive_only_the_encrypted_file_is_left_out(tmp_path):
    content = bytearray(zipped({"4k.json": b"one", "secret.json": b"two"}))
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.rindex(header) + flags] |= 1
    folder = write(tmp_path / "mine", {"a.zip": bytes(content)})
    assert below(tmp_path, folder) == ({"a.zip/4k.json": b"one"}, {"a.zip/secret.json": "it is encrypted"})


def test_a_name_that_an_archive_has_twice_counts_once(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("4k.json", b"one")
            archive.writestr("4k.json", b"two")
    _, why = below(tmp_path, write(tmp_path / "mine", {"a.zip": buffer.getvalue()}))
    assert why == {"a.zip/4k.json": "the archive has this name twice"}


@pytest.mark.parametrize("packed", [zipped, tarred, lambda contents: gzip.compress(contents["a"])])
def test_an_archive_that_unpacks_to_too_much_is_refused_and_takes_no_room(tmp_path, monkeypatch, packed):
    monkeypatch.setattr(files, "MOST_UNPACKED_BYTES", 3_000_000)
    bomb = packed({"a": b"x" * 5_000_000})
    assert len(bomb) < 10_000
    folder = write(tmp_path / "mine", {"a.zip": bomb, "b.zip": zipped(CONTENTS)})
    read, why = below(tmp_path, folder)
    assert set(read) == {f"b.zip/{name}" for name in CONTENTS}
    assert why["a.zip"].startswith("it cannot be unpacked: archives unpack to more than")
    assert sum(path.stat().st_size for path in (tmp_path / "unpacked").iterdir()) < 100


def test_a_long_name_that_would_fill_the_memory_is_not_read(tmp_path):
    member = tarfile.TarInfo("././@LongLink")
    member.type, member.size = tarfile.GNUTYPE_LONGNAME, 5_000_000
    content = gzip.compress(member.tobuf() + b"x" * member.size)
    _, why = below(tmp_path, write(tmp_path / "mine", {"a.tar.gz": content}))
    assert why == {"a.tar.gz": "it cannot be unpacked: a header in it has more than 1 MiB"}


def test_a_name_cannot_command_the_terminal_nor_turn_its_text_round(tmp_path):
    folder = write(tmp_path / "mine", {"a.zip": zipped({"run\x1b[2J/\u202e4k.json": b"one"})})
    assert below(tmp_path, folder) == ({"a.zip/run\\x1b[2J/\\u202e4k.json": b"one"}, {})


def test_an_archive_without_a_file_is_named(tmp_path):
    _, why = below(tmp_path, write(tmp_path / "mine", {"a.tar.gz": gzip.compress(b"\0" * 20_000)}))
    assert why == {"a.tar.gz": "an archive without a file"}


def test_archives_of_very_many_files_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_UNPACKED_FILES", 10)
    folder = write(tmp_path / "mine", {"a.zip": zipped({f"{number}.json": b"x" for number in range(11)})})
    read, why = below(tmp_path, folder)
    assert read == {}
    assert why["a.zip"].startswith("it cannot be unpacked: archives unpack to more than")


@at_most(100)
@given(data=st.data())
def test_a_damaged_archive_is_read_or_left_out(tmp_path_factory, data):
    packed = data.draw(st.sampled_from([zipped, tarred, lambda contents: tarred(contents, "w")]))
    content = bytearray(packed(CONTENTS))
    for _ in range(data.draw(st.integers(0, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(1, len(content)))]
    root = tmp_path_factory.mktemp("damaged")
    read, why = below(root, write(root / "mine", {"a.archive": bytes(content)}))
    assert read or why
    outside = {path.relative_to(root).parts[0] for path in root.rglob("*")}
    assert outside <= {"mine", "unpacked"}


@at_most(100)
@given(names=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=4, unique=True))
@example(names=["0¹", "¹0", "9" * 5000])
def test_whatever_names_an_archive_has_nothing_is_written_under_them(tmp_path_factory, names):
    root = tmp_path_factory.mktemp("names")
    content = zipped({name.replace("\0", "") or "x": b"{}" for name in names} | {"good": b"{}"})
    below(root, write(root / "mine", {"a.zip": content}))
    assert all(path.name.isdigit() for path in (root / "unpacked").iterdir())
    assert {path.name for path in root.iterdir()} == {"mine", "unpacked"}


def test_results_in_an_archive_are_imported_and_their_origin_is_recorded(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    reports = {
        f"run-{run}/{size}.json": report(job(rw="read", bs=size, operations=20_000 + run), at=run).encode()
        for run in (1, 2)
        for size in ("4k", "64k")
    }
    archive = tmp_path / "results.tar.gz"
    archive.write_bytes(tarred(reports))
    before = set(tmp_path.iterdir())
    assert main(["import", str(archive), "--data", "mine"]) == 0
    assert "4 runs at 2 points, n = 2" in capsys.readouterr().out
    account = (tmp_path / "benchmarks" / "mine" / "imported.csv").read_text().splitlines()
    assert [line.split(",")[:2] for line in account[1:]] == [["results", name] for name in reports]
    assert set(tmp_path.iterdir()) == before | {tmp_path / "benchmarks"}
