"""`replay report`: the figures of its page are those of the tables, and it says nothing that they do not."""

from __future__ import annotations

import io
import json
import os
import re
import threading
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.paths import ROOT
from replay.claims.descriptions import write_datapackage
from replay.cli.derive import _say_first
from replay.cli.main import main
from replay.exchange.page import DOT, Axis, Row, strip, write_page
from replay.exchange.report.data_set import bytes_per_second, per_second, seconds, size
from support.pages import ASKING, PageReader, rows_of, words_of
from support.reported import runs_of, write_experiment, write_manifest, write_ratios

OFFERED = {"load": "offered", "io_size_bytes": 4096, "offered_operations_per_second": 250, "duration_seconds": 32}
LABELS = {"none": "Without mirroring", "journal-mirrored": "Journal mirrored", "snapshot": "Snapshot every 60 s"}
JOURNAL_LOST = (1.5, 4.8, 2.0)


def latency(typical, tail, worst, **more):
    return {"latency_p50_seconds": typical, "latency_p99_seconds": tail, "latency_max_seconds": worst, **more}


def write_latency(data_set, labels=LABELS, experiment="write-latency"):
    replay = [{"replay_operations_per_second": rate} for rate in (420.0, 414.3, 500.0)]
    figures = {
        "none": [latency(0.002, 0.007, 0.012), latency(0.003, 0.008, 0.014), latency(0.0028, 0.0071, 0.017)],
        "journal-mirrored": [
            latency(0.009, 0.030, 0.05, replayed_fraction_during_cell=0.99, **replay[0]),
            latency(0.0098, 0.033, 0.06, replayed_fraction_during_cell=0.97, **replay[1]),
            latency(0.012, 0.040, 0.07, replayed_fraction_during_cell=0.98, **replay[2]),
        ],
        "snapshot": [latency(0.003, 0.15, 1.0, snapshots_taken_in_cell=2, snapshots_synced_in_cell=2)] * 3,
    }
    runs = [
        row
        for name, blocks in figures.items()
        for row in runs_of(experiment, name, blocks, label=labels[name], **OFFERED)
    ]
    entry = write_experiment(
        data_set,
        "write_latency",
        runs,
        {"load": ["one-writer", "offered"], "io_size_bytes": [4096, 4194304]},
        parameters={"replay_of": "journal-mirrored", "object_size_bytes": 4194304},
    )
    ratios = {labels["journal-mirrored"]: (4.22, 3.17, 5.63, 3), labels["snapshot"]: (1.16, 0.97, 1.38, 3)}
    write_ratios(data_set, entry, "ratio-latency-p50-offered", "latency_p50_seconds", ratios)
    return entry


def site_loss(data_set):
    lost = {"journal-poll-5": JOURNAL_LOST, "snapshot-60": (33.0, 60.7, 12.0)}
    levels = {
        "journal-poll-5": {"label": "Journal, poll age 5 s", "journal_poll_age_seconds": 5},
        "snapshot-60": {"label": "Snapshots every 60 s", "snapshot_interval_seconds": 60},
    }
    runs = [
        row
        for name, values in lost.items()
        for row in runs_of(
            "site-loss",
            name,
            [
                {"recovery_point_seconds": value, "lost_writes": round(100 * value), "promotion_hung": int(value > 60),
                 "seconds_to_first_write": 48.0 if value > 60 else 3.5}
                for value in values
            ],
            kind="forced", writes_per_second=100, **levels[name],
        )
    ]  # fmt: skip
    return write_experiment(data_set, "site_loss", runs, {"kind": ["forced"]}, ratio_direction=None)


def mirror_replay(data_set):
    runs = [
        row
        for images, rates in ((1, (9e6, 8e6, 8.5e6)), (4, (17e6, 19e6, 18e6)))
        for row in runs_of(
            "mirror-replay", "journal", [{"bytes_per_second": rate} for rate in rates],
            label="Journal", images=images, io_size_bytes=65536,
        )
    ]  # fmt: skip
    return write_experiment(data_set, "mirror_replay", runs, {"images": [1, 4], "io_size_bytes": [65536]})


def replica_lag(data_set):
    loads = {30: ((0.3, 5.2), (0.2, 5.0)), 240: ((1.3, 95.0), (1.4, 54.0))}
    runs = [
        row
        for rate, found in loads.items()
        for row in runs_of(
            "replica-lag", "journal-poll-5",
            [{"offered_to_replay_ratio": ratio, "lag_max_seconds": lag} for ratio, lag in found],
            label="Journal, poll age 5 s", writes_per_second=rate, io_size_bytes=65536, duration_seconds=135,
            bytes_per_second=rate * 65536, journal_poll_age_seconds=5,
        )
    ]  # fmt: skip
    return write_experiment(data_set, "mirror_lag", runs, {"writes_per_second": [30, 240], "io_size_bytes": [65536]})


WRITERS = {
    "write-latency": write_latency,
    "site-loss": site_loss,
    "mirror-replay": mirror_replay,
    "replica-lag": replica_lag,
}


@pytest.fixture
def report(benchmarks, tmp_path, capsys):
    """Write a data set of some experiments; return its page, read, and what the command printed."""

    def of(*names, **changes):
        data_set = benchmarks / "mine"
        data_set.mkdir()
        write_manifest(data_set, {name: WRITERS[name](data_set) for name in names}, **changes)
        write_datapackage(data_set)
        return read(tmp_path / "page.html", capsys)

    return of


def read(path, capsys):
    capsys.readouterr()
    assert main(["report", "--data", "mine", "--out", str(path)]) == 0
    return PageReader(path.read_text()), capsys.readouterr().out


@pytest.fixture
def reported(benchmarks, tmp_path, capsys):
    """Write a data set of one experiment with these runs; return its page, read, and what the command printed."""

    def of(protocol, runs, factors, **changes):
        entry = write_experiment(benchmarks / "mine", protocol, runs, factors)
        write_manifest(benchmarks / "mine", {runs[0]["experiment"]: entry}, **changes)
        return read(tmp_path / "page.html", capsys)

    return of


def test_the_page_opens_anywhere_and_says_first_what_matters(report):
    found, said = report(*WRITERS)
    assert not ASKING & set(found.tags)
    assert found.all("href") == []
    assert not {"style", "onload", "onclick"} & {name for _, name, _ in found.attributes}
    short = (
        "Journal mirrored: the typical write of 4 KiB takes 9.8 ms, the slowest of a hundred 33 ms. "
        "Snapshot every 60 s: 3.0 ms and 150 ms. Without mirroring: 2.8 ms and 7.1 ms.",
        "A lost site took with it, at worst, acknowledged writes of the last 4.8 s (Journal, poll age 5 s), "
        "60.7 s (Snapshots every 60 s).",
        "Journal mirrored: this pair can mirror one image that writes 414 times a second at 4 KiB. "
        "Journal: 4 images together catch up at 17 MB/s, 65 writes of 64 KiB a second each, while nobody writes.",
    )
    text = words_of(found)
    for sentence in short:
        assert sentence in text
        assert f"- {sentence}\n" in said
    assert said.endswith("page.html: one page that opens anywhere\n")
    for basis in (
        "Writes of 4 KiB, 250 a second, the same for every mode; 3 runs each. What ran out: nothing.",
        "The worst of 3 runs each, at 100 writes a second. What ran out: nothing. In 1 of 6 losses nobody could write",
        "at 16 MB/s it was up to 95.0 s behind after 135 s (Journal, poll age 5 s)",
    ):
        assert basis in text


def test_a_rate_that_several_experiments_found_is_one_and_the_slowest_of_all_runs_counts(benchmarks, tmp_path, capsys):
    data_set = benchmarks / "mine"
    data_set.mkdir()
    names = ("write-latency", "write-latency-poll")
    write_manifest(data_set, {name: write_latency(data_set, experiment=name) for name in names})
    write_datapackage(data_set)
    found, said = read(tmp_path / "page.html", capsys)
    assert "- Journal mirrored: this pair can mirror one image that writes 414 times a second at 4 KiB.\n" in said
    (row,) = rows_of(found, "How many images")[1:]
    assert row[:4] == ["Journal mirrored", "1", "4 KiB", "414"]
    assert row[6:] == ["6", "not known", "while it is written", "write-latency, write-latency-poll"]


def test_measuring_ends_with_what_the_page_says_first(report, capsys):
    _, said = report(*WRITERS)
    sentences = said[: said.index("wrote ")]
    assert sentences.count("\n- ") >= 2
    _say_first("mine")
    assert capsys.readouterr().out == f"\nin short:\n{sentences}"
    _say_first("nobody")
    assert capsys.readouterr().out == ""


def test_the_figures_of_the_tables_are_those_of_the_csvs(report):
    found, _ = report(*WRITERS)
    assert rows_of(found, "write-latency: Writes of 4 KiB") == [
        ["mode", "typical", "typical ÷ Without mirroring", "slowest of 100", "slowest of all", "n", "snapshots taken",
         "copied meanwhile", "ran out of"],
        ["Without mirroring", "2.8 ms", "—", "7.1 ms", "17 ms", "3", "—", "—", "nothing"],
        ["Journal mirrored", "9.8 ms", "4.22 (3.17 to 5.63)", "33 ms", "70 ms", "3", "—", "98 %", "nothing"],
        ["Snapshot every 60 s", "3.0 ms", "1.16 (0.970 to 1.38)", "150 ms", "1.0 s", "3", "2 in 32 s",
         "2 of 2", "nothing"],
    ]  # fmt: skip
    assert rows_of(found, "site-loss: seconds")[1:] == [
        ["Journal, poll age 5 s", "2.0 s", "4.8 s", "480", "3.5 s", "3.5 s", "0 of 3", "3", "nothing"],
        ["Snapshots every 60 s", "33.0 s", "60.7 s", "6,070", "3.5 s", "3.5 s", "1 of 3", "3", "nothing"],
    ]
    assert [row[:7] for row in rows_of(found, "How many images")[1:]] == [
        ["Journal mirrored", "1", "4 KiB", "414", "500", "1.7 MB/s", "3"],
        ["Journal", "1", "64 KiB", "122", "137", "8.0 MB/s", "3"],
        ["Journal", "4", "64 KiB", "65", "72", "17 MB/s", "3"],
    ]
    assert [row[:4] for row in rows_of(found, "Loads that were tried")[1:]] == [
        ["Journal, poll age 5 s", "30 of 64 KiB", "2.0 MB/s", "below (0.20 to 0.30 of it)"],
        ["Journal, poll age 5 s", "240 of 64 KiB", "16 MB/s", "above (1.30 to 1.40 of it)"],
    ]
    settings = {row[0]: row[2] for row in rows_of(found, "Settings")}
    assert "at worst 4.8 s with 5 s. Above the rate of replay: 95.0 s behind with 5 s." in settings[
        "rbd_mirror_journal_poll_age"
    ]  # fmt: skip
    assert settings["snapshot schedule"] == "What snapshots lose: at worst 60.7 s with 60 s."
    assert settings["number of images"].endswith("Journal, 64 KiB: 122, 65.")
    assert "Not varied: replicas: 3, object size: 4 MiB." in words_of(found)
    assert [row[2] for row in rows_of(found, "A verdict says")[1:]] == ["held"] * 4


@pytest.mark.parametrize(
    ("without", "section", "line"),
    [
        ("site-loss", "What a lost site takes with it", "--experiment site-loss, or failover on a cluster that Replay"),
        ("write-latency", "What a write pays", "What a write pays. replay measure --site mine --data mine --exp"),
        ("mirror-replay", "while nobody writes", "How fast several images catch up together."),
        ("replica-lag", "How far the copy was behind", "How far the copy is behind under a load."),
    ],
)  # fmt: skip
def test_of_an_experiment_that_was_not_measured_the_page_says_only_that(report, without, section, line):
    found, said = report(*(name for name in WRITERS if name != without))
    text = "".join(f"{one}\n" for one in found.text)
    assert line in text
    assert f"\n{section}\n" not in text
    assert f"A sentence about {without}." not in text
    of_it = {"site-loss": "60.7 s", "write-latency": "9.8 ms", "mirror-replay": "17 MB/s", "replica-lag": "95.0 s"}
    assert of_it[without] not in text + said


def test_a_device_that_the_page_is_written_to_stays_one_and_gets_utf_8_in_any_locale(tmp_path, monkeypatch):
    monkeypatch.setattr(io, "text_encoding", lambda encoding, *_: encoding or "latin-1")
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_page(pipe, "a page: ●")
    reader.join()
    assert got == ["a page: ●".encode()]
    assert pipe.is_fifo()


def test_a_data_set_without_mirroring_says_what_ran_out(reported):
    runs = runs_of("baseline", "read", [{}, {}], limiter="unknown", cpu_idle_fraction="", disk_busy_fraction="")
    found, said = reported("baseline", runs, {}, site=None)
    text = words_of(found)
    assert "What was measured: mine" in text
    assert rows_of(found, "Runs by what they ran out of") == [
        ["experiment", "runs", "not known"],
        ["baseline", "2", "2"],
    ]
    assert "What baseline ran out of: nobody watched the machines of the cluster. Name prometheus" in text
    assert "1 verdict on other experiments: replay claims --data mine --measured" in text
    assert "replay measure --site NAME --data mine --experiment write-latency" in text
    assert said.startswith("wrote ")


def test_imported_runs_over_time_are_drawn_as_lines_with_the_range_of_their_runs(benchmarks, tmp_path, capsys):
    data_set = benchmarks / "mine"
    runs = runs_of("imported-fio", "before", [{}, {}]) + runs_of("imported-fio", "after", [{}, {}])
    path = "imported-fio/aggregate/iops-over-time.csv"
    entry = write_experiment(data_set, "imported", runs, {})
    entry["charts"]["iops-over-time"] = {
        "title": "IOPS over time, <4K>", "path": path, "metric": "iops-over-time", "runs": "lines",
        "kind": "long", "companions": {}, "workload": {}, "x": {"label": "Time", "unit": "seconds"},
        "y": {"label": "IOPS", "unit": "operations_per_second", "better": "higher"},
    }  # fmt: skip
    (data_set / path).parent.mkdir()
    (data_set / path).write_text(
        "series,x,y,low,high,n\n"
        "before,0.5,1000,900,1100,2\nbefore,1.5,2000,1900,2100,2\n"
        "after,0.5,1000,1000,1000,2\nafter,1.5,2000,2000,4000,2\n"
    )
    write_manifest(data_set, {"imported-fio": entry}, site=None)
    found, _ = read(tmp_path / "page.html", capsys)
    assert "Over time" in found.text
    [svg] = [one for one in re.findall(r"<svg.*?</svg>", found.source, re.DOTALL) if "over time" in one]
    assert "IOPS over time, &lt;4K&gt;. before: 1,000/s to 2,000/s; after: 1,000/s to 2,000/s" in svg
    bands = [points.split() for points in re.findall(r'class="band" points="([^"]*)"', svg)]
    lines = [points.split() for points in re.findall(r'<polyline class="line line-\d" points="([^"]*)"', svg)]
    assert [len(band) for band in bands] == [4, 4]
    assert [len(line) for line in lines] == [2, 2]
    assert lines[0] == lines[1], "equal medians lie on each other"
    top = min(float(point.split(",")[1]) for point in bands[1])
    assert top == min(float(point.split(",")[1]) for band in bands for point in band), "4000 is the highest"
    heights = [float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)">(?:before|after)', svg)]
    assert len(heights) == 2
    assert abs(heights[0] - heights[1]) >= 16, "names of lines that end together do not cover each other"


def test_the_slowest_osd_and_the_distance_are_told_where_cells_recorded_them(reported):
    figures = [
        {"slowest_osd": 2, "slowest_osd_commit_latency_seconds": 0.012, "measured_link_rtt_seconds": 0.0203},
        {"slowest_osd": 2, "slowest_osd_commit_latency_seconds": 0.050, "measured_link_rtt_seconds": 0.021},
        {"slowest_osd": "", "slowest_osd_commit_latency_seconds": 0.002},
    ]
    runs = runs_of("response", "writes", figures, label="Writes", link_rtt_seconds=0.02)
    found, said = reported("fio_profile", runs, {})
    assert rows_of(found, "Commit latency")[1:] == [
        ["response: Writes", "osd.2 in 2 of 3, no single one in 1", "12 ms", "50 ms", "p, block 2", "3"]
    ]
    assert rows_of(found, "The line between the sites")[1:] == [["response", "20 ms to 21 ms", "20 ms", "2"]]
    assert "The sites were 20 ms to 21 ms apart" in said


def test_a_distance_that_was_noted_once_is_told_where_no_cell_recorded_one(benchmarks, tmp_path, capsys):
    data_set = benchmarks / "mine"
    runs = runs_of("response", "writes", [{"slowest_osd": 2}], label="Writes")
    entries = {"response": write_experiment(data_set, "fio_profile", runs, {})}
    write_manifest(data_set, entries)
    found, _ = read(tmp_path / "page.html", capsys)
    assert "no round trip to the second one was recorded" in found.source
    write_manifest(data_set, entries, setup={"round_trip_seconds": 0.0203})
    found, said = read(tmp_path / "again.html", capsys)
    assert "The second cluster was 20 ms away (round trip)." in said
    assert "no round trip" not in found.source


def test_each_distance_is_told_apart_and_none_is_the_headline(benchmarks, tmp_path, capsys):
    data_set = benchmarks / "mine"
    data_set.mkdir()
    near = write_latency(data_set)
    rate = {"replay_operations_per_second": 19.0, "replayed_fraction_during_cell": 1.0}
    far = [
        row
        for rtt in (0, 0.08)
        for name in ("none", "journal-mirrored")
        for row in runs_of(
            "a-distance",
            name,
            [latency(0.5, 0.6, 0.7, **rate)] * 2,
            label=LABELS[name],
            **OFFERED,
            link_rtt_seconds=rtt,
        )
    ]
    factors = {"load": ["offered"], "io_size_bytes": [4096], "link_rtt_seconds": [0, 0.08]}
    entry = write_experiment(data_set, "write_latency", far, factors, parameters={"replay_of": "journal-mirrored"})
    write_manifest(data_set, {"a-distance": entry, "write-latency": near})
    found, said = read(tmp_path / "page.html", capsys)
    assert "the typical write of 4 KiB takes 9.8 ms" in said, "without a distance, whatever the order of experiments"
    assert "19 times a second" not in said
    captions = re.findall(r"<caption>(a-distance: [^<]*)</caption>", found.source)
    assert len(set(captions)) == len(captions) == 2
    assert [caption.split("; ")[-1] for caption in captions] == ["0 s between the sites", "80 ms between the sites"]
    [farthest] = [row for row in rows_of(found, "How many images") if row[4].startswith("19") or row[3] == "19"]
    assert farthest[0] == "Journal mirrored; 80 ms between the sites"


def test_a_stretch_cluster_that_lost_nothing_says_so(reported):
    lost = [{"lost_writes": 0, "lost_seconds": 0, "seconds_to_first_write": 51.0}] * 3
    runs = runs_of("distance-loss", "stretch", lost, label="Stretch cluster", kind="forced", link_rtt_seconds=0.02)
    found, said = reported("site_loss", runs, {"kind": ["forced"], "link_rtt_seconds": [0, 0.02]})
    assert "acknowledged writes of the last 0 s (Stretch cluster)" in said
    caption = "distance-loss: seconds of acknowledged writes lost with the site; 20 ms between the sites"
    [row] = rows_of(found, caption)[1:]
    assert row[:6] == ["Stretch cluster", "0 s", "0 s", "0", "51.0 s", "51.0 s"]
    assert "--experiment site-loss" not in words_of(found)


def test_a_single_run_is_called_one(reported):
    runs = runs_of("write-latency", "none", [latency(0.002, "", 0.012)], load="one-writer", io_size_bytes=4096)
    runs += runs_of("write-latency", "journal", [latency(0.004, 0.1, 0.012)], load="one-writer", io_size_bytes=4096)
    found, _ = reported("write_latency", runs, {"load": ["one-writer"], "io_size_bytes": [4096]})
    text = words_of(found)
    assert "One writer of 4 KiB that waits for each write; one run each, which cannot say how much runs differ" in text
    assert "The slowest of a hundred writes, at a rate that every mode keeps up with" in text
    assert rows_of(found, "write-latency: One writer")[0] == ["mode", "typical", "n", "ran out of"], "it has no tail"


def test_a_median_of_which_only_a_lower_bound_is_known_says_so(reported):
    beyond = latency(0.004, "", 20.0, latency_p99_at_least_seconds=17.1)
    figures = {
        "none": [latency(0.002, 0.007, 0.012)] * 3,
        "journal": [latency(0.004, 0.1, 0.3), beyond, beyond],
        "snapshot": [latency(0.003, 0.15, 1.0), latency(0.003, 0.15, 1.0), beyond],
    }
    runs = [row for name, blocks in figures.items() for row in runs_of("write-latency", name, blocks, **OFFERED)]
    found, _ = reported("write_latency", runs, {"load": ["offered"], "io_size_bytes": [4096]})
    head, *rows = rows_of(found, "write-latency: Writes of 4 KiB")
    assert [row[head.index("slowest of 100")] for row in rows] == ["7.0 ms", "≥ 17.1 s", "150 ms"]
    assert "4.0 ms, ≥ 17.1 s" in found.source, "the chart says it, too"


HOSTILE = '<b onclick="x">&amp;"\'</b><script>1</script>'


def test_hostile_names_are_text(benchmarks, tmp_path, capsys):
    data_set = benchmarks / "mine"
    data_set.mkdir()
    labels = {name: f"{HOSTILE}{name}" for name in LABELS}
    entry = write_latency(data_set, labels)
    entry["skipped"] = [{"variant": "x", "requires": HOSTILE, "detail": HOSTILE}]
    entry["invalid"] = {HOSTILE: 1}
    entry["limits"]["rule"] = HOSTILE
    setup = {"ceph_version": HOSTILE}
    write_manifest(data_set, {"write-latency": entry}, label=HOSTILE, limitation=HOSTILE, site=HOSTILE, setup=setup)
    claims = json.loads((data_set / "claims.json").read_text())
    claims["claims"]["claim-write-latency"] |= {"sentence": HOSTILE, "reason": HOSTILE, "verdict": HOSTILE}
    (data_set / "claims.json").write_text(json.dumps(claims))
    found, _ = read(tmp_path / "page.html", capsys)
    assert not {"b", "script"} & set(found.tags)
    assert "onclick" not in {name for _, name, _ in found.attributes}
    assert "".join(found.text).count(HOSTILE) > 10


def test_an_altered_data_set_is_named_and_not_reported(report, benchmarks, tmp_path, capsys):
    report("write-latency")
    path = benchmarks / "mine/write-latency/aggregate/ratio-latency-p50-offered.spread.csv"
    path.write_text(f"{path.read_text()}\n")
    page = tmp_path / "another.html"
    assert main(["report", "--data", "mine", "--out", str(page)]) == 3
    said = capsys.readouterr().err
    assert str(path) in said
    assert "altered" in said
    assert "derive" in said
    assert not page.exists()


def test_if_no_run_counts_there_is_nothing_to_report(benchmarks, capsys):
    data_set = benchmarks / "mine"
    runs = runs_of("site-loss", "journal", [{}], used=0, kind="forced")
    entry = write_experiment(data_set, "site_loss", runs, {"kind": ["forced"]})
    write_manifest(data_set, {"site-loss": entry})
    assert main(["report", "--data", "mine", "--out", "x.html"]) == 3
    assert "no run of this data set counts" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(path.parent.name for path in ROOT.glob("benchmarks/*/manifest.json")))
def test_every_shipped_data_set_has_a_report(name, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("REPLAY_BENCHMARKS", raising=False)
    page = tmp_path / "page.html"
    assert main(["report", "--data", name, "--out", str(page)]) == 0
    found = PageReader(page.read_text())
    assert not ASKING & set(found.tags)
    assert not re.search(r"\bnan\b", words_of(found))
    assert page.stat().st_size < 1 << 20


@pytest.mark.parametrize(
    ("said", "value", "text"),
    [
        (seconds, 0.0098304, "9.8 ms"),
        (seconds, 0.15204352, "152 ms"),
        (seconds, 0.99999, "1.0 s"),
        (seconds, 0.0009999, "1.0 ms"),
        (seconds, 0.00002, "20 µs"),
        (seconds, 60.691851, "60.7 s"),
        (seconds, 124.003, "124 s"),
        (seconds, 0, "0 s"),
        (seconds, None, "—"),
        (per_second, 414.31, "414"),
        (per_second, 2.886, "2.9"),
        (per_second, 0.29, "0.29"),
        (per_second, 9.96, "10"),
        (bytes_per_second, 15726970.1, "16 MB/s"),
        (bytes_per_second, 999_999, "1.0 MB/s"),
        (bytes_per_second, 655_098, "655 kB/s"),
        (size, 4096, "4 KiB"),
        (size, 4194304, "4 MiB"),
        (size, 1000, "1,000 bytes"),
    ],
)
def test_figures_have_their_unit_and_no_more_digits_than_a_person_reads(said, value, text):
    assert said(value) == text


@given(st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=8), st.sampled_from(get_args(Axis)))
def test_every_mark_lies_on_the_axis_and_the_axis_has_names(values, axis):
    rows = [Row("one", "said", [(value, DOT) for value in values], values)]
    found = PageReader(strip(rows, "title", "key", str, axis))
    places = [float(value[:-1]) for tag, name, value in found.attributes if (tag, name) == ("circle", "cx")]
    assert len(places) == len(values)
    assert all(0 <= float(value[:-1]) <= 100 for name in ("x1", "x2", "cx", "x") for value in found.all(name))
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [places[one] for one in order] == sorted(places)
    names = [value for tag, name, value in found.attributes if (tag, name) == ("text", "x")]
    assert 2 <= len(names) <= 4
