"""The ratios of throughput in a terminal: the figures of the CSV files, and no others."""

from __future__ import annotations

import json

import pytest

from replay.claims.command import main
from replay.claims.ratios import NO_INTERVAL, ratio_lines, size_text


@pytest.fixture
def data_set(tmp_path):
    folder = tmp_path / "mine"
    aggregate = folder / "rbd-journaling" / "aggregate"
    aggregate.mkdir(parents=True)

    def write(name, *values):
        (aggregate / name).write_text(f"I/O size,4096,4194304,8388608\nWith journal,{','.join(values)}\n")

    write("ratio-throughput-write-seq.csv", "5.1584", "2.19", "")
    write("ratio-throughput-write-seq.low.csv", "4.8", "", "")
    write("ratio-throughput-write-seq.high.csv", "5.5", "", "")
    write("ratio-latency-write-seq.csv", "9", "9", "9")
    return folder


def test_the_table_has_the_figures_that_derive_wrote(data_set):
    assert ratio_lines(data_set) == [
        "rbd-journaling: throughput of the reference ÷ throughput of …",
        "  write seq        4K                  4M     8M",
        "    With journal   5.16 [4.80, 5.50]   2.19   -",
        NO_INTERVAL,
    ]


def test_a_described_data_set_gives_the_names(data_set):
    variants = [{"label": "Without journal", "reference": True}, {"label": "With journal", "reference": False}]
    manifest = {"experiments": {"rbd-journaling": {"title": "RBD journaling", "variants": variants}}}
    (data_set / "manifest.json").write_text(json.dumps(manifest))
    assert ratio_lines(data_set)[0] == "RBD journaling: throughput of without journal ÷ throughput of …"


def test_every_ratio_with_an_interval_needs_no_remark(data_set):
    aggregate = data_set / "rbd-journaling" / "aggregate"
    for end in ("low", "high"):
        (aggregate / f"ratio-throughput-write-seq.{end}.csv").write_text("I/O size,4096,4194304\nWith journal,1,2\n")
    assert NO_INTERVAL not in ratio_lines(data_set)


def test_without_ratios_there_is_no_line(tmp_path):
    assert ratio_lines(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [("4096", "4K"), ("131072", "128K"), ("4194304", "4M"), ("1000", "1000"), ("512", "512"), ("offered", "offered")],
)
def test_sizes_are_written_as_an_engineer_writes_them(text, shown):
    assert size_text(text) == shown


def test_the_command_prints_them_before_the_sentences(capsys):
    assert main(["--data", "reference", "--brief", "--ratios"]) == 0
    said = capsys.readouterr().out
    assert said.index("÷ throughput of …") < said.index("What the data set reference says")


def test_they_go_with_the_sentences_only(capsys):
    with pytest.raises(SystemExit) as refused:
        main(["--data", "reference", "--ratios"])
    assert refused.value.code == 2
    assert "--brief" in capsys.readouterr().err
