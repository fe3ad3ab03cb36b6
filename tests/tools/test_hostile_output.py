"""An output that is cut off, mixed with another or of a failed run gives an error, and no wrong figure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError, reader
from support.hostile import at_most, interleaved, tried
from support.samples import measured_cells, sample

SAMPLES = [
    "rbd-bench-read-rand-4k.txt",
    "rbd-bench-rw-70-4k.txt",
    "rados-bench-write-4m.txt",
    "rados-bench-old-write.txt",
    "rados-bench-write-64k.json",
    "rados-bench-seq-64k.json",
    "fio-randread.json",
    "fio-client-server-2.json",
    "fio-randrw70-jsonplus.json",
    "fio-client-server-2-jsonplus.json",
    "iperf3-loopback.json",
    "iperf3-4-streams.json",
]
RATES = ("operations_per_second", "bytes_per_second", "operations", "duration_seconds")
CELLS = measured_cells()
FEW = at_most(120)
#: How many places to cut an output at. JSON that lacks its end is none, wherever it was cut.
CUTS, CUTS_OF_JSON = tried(1500), tried(200)


def tool_of(name):
    words = name.split("-")
    return reader(words[0] if words[0] in ("fio", "iperf3") else "-".join(words[:2]))


def outcome(name, text, exit_status=0):
    """Return the result of parsing, or None for a typed error; any other exception fails the test.

    The error names the file, and a line that it has.
    """
    try:
        return tool_of(name).parse({"stdout": text}, exit_status, {}, names={"stdout": "a.file"})
    except OutputError as error:
        assert error.file == "a.file"
        assert error.line is None or 1 <= error.line <= text.count("\n") + 1
        return None


def rates(result):
    return {metric: result.metrics[metric] for metric in RATES if metric in result.metrics}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_truncated_output_is_refused_or_marked_incomplete_or_lost_only_its_end(name):
    text, _ = sample(name)
    truth = tool_of(name).parse({"stdout": text}, 0, {}).metrics
    step = max(1, len(text) // (CUTS_OF_JSON if name.endswith(".json") else CUTS))
    for length in [*range(0, len(text), step), *range(len(text) - 80, len(text))]:
        result = outcome(name, text[:length])
        if result is not None and result.complete:
            assert result.metrics == truth
            assert not text[length:].strip(" \n}")


@pytest.mark.parametrize("name", SAMPLES)
@FEW
@given(data=st.data())
def test_two_interleaved_runs_are_never_taken_for_one(name, data):
    text, _ = sample(name)
    result = outcome(name, interleaved(text, text, data.draw(st.integers(0, 2**32))))
    if result is not None and result.complete:
        assert rates(result) == pytest.approx(rates(tool_of(name).parse({"stdout": text}, 0, {})), rel=0.03)


@pytest.mark.parametrize("tool", ["rbd-bench", "rados-bench", "fio", "iperf3"])
@FEW
@given(text=st.text(max_size=400), exit_status=st.sampled_from([0, 1, 110, None]))
def test_arbitrary_text_is_never_a_result(tool, text, exit_status):
    result = outcome(tool + "-x", text, exit_status)
    assert result is None or not result.complete


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("exit_status", [1, 110, 137, None])
def test_no_good_result_comes_from_a_run_that_did_not_exit_with_0(name, exit_status):
    result = outcome(name, sample(name)[0], exit_status)
    assert result is None or (not result.complete and not result.metrics)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"jobs": [' + "9" * 10_000 + "]}",
        '{"jobs": [{"jobname": 1}]}',
        '{"jobs": {}}',
        '{"jobs": [null], "client_stats": [null]}',
        '{"datas": [], "total_time_run": "1e999", "total_writes_made": "1", "write_size": "1"}',
        '{"total_writes_made": "1", "total_reads_made": "1"}',
    ],
)
@pytest.mark.parametrize("tool", ["rados-bench", "fio", "iperf3"])
def test_hostile_json_is_a_typed_error(tool, text):
    assert outcome(tool + "-x", text) is None


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("rados-bench-write-4m.txt", "Bandwidth (MB/sec):     ", "Bandwidth (MB/sec):     9"),
        ("fio-randread.json", '"iops" : 1', '"iops" : 2'),
        ("fio-client-server-2.json", '"total_ios" : 1', '"total_ios" : 2'),
        ("iperf3-loopback.json", '"bits_per_second":\t4', '"bits_per_second":\t5'),
    ],
)
def test_a_rate_that_contradicts_its_own_total_and_time_is_refused(name, old, new):
    text, _ = sample(name)
    assert old in text
    # The last of iperf3's is what the server received.
    before, _, after = text.rpartition(old) if name.startswith("iperf3") else text.partition(old)
    assert outcome(name, before + new + after) is None


@pytest.mark.parametrize("name", CELLS)
@at_most(80)
@given(data=st.data())
def test_a_file_of_a_cell_cut_off_anywhere_is_refused_or_lost_only_its_end(name, data):
    cell = CELLS[name]
    role = data.draw(st.sampled_from(sorted(cell.files)))
    whole = cell.files[role]
    end = data.draw(st.integers(0, len(whole) - 1))
    try:
        result = cell.parse(**{role: whole[:end]})
    except OutputError as error:
        assert error.file in cell.files
        text = {**cell.files, role: whole[:end]}[error.file]
        assert error.line is None or 1 <= error.line <= text.count("\n") + 1
        return
    assert role == "output", "only fio's report may lose its end without losing a figure"
    assert not whole[end:].strip(" \n}")
    assert result.metrics == pytest.approx(cell.parse().metrics, rel=1e-9, abs=1e-9)
