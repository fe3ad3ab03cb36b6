"""A damaged output gives an error or the right figures; a short run of `scripts/mutate_outputs.py`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError, adapter
from support.hostile import at_most, interleaved, tried
from support.mutations import ERROR, KINDS, RIGHT, WRONG, judged, mutations, outputs, tally
from support.samples import sample

# Each sample with how far a rate may be from the truth and still agree with all else that the tool printed: rbd bench
# states it once in full and once rounded to two digits; the others state it twice in full.
SAMPLES = {
    "rbd-bench-read-rand-4k.txt": 0.03,
    "rbd-bench-rw-70-4k.txt": 0.03,
    "rados-bench-write-4m.txt": 0.001,
    "rados-bench-old-write.txt": 0.001,
    "rados-bench-write-64k.json": 0.001,
    "rados-bench-seq-64k.json": 0.001,
    "fio-randread.json": 0.001,
    "fio-client-server-2.json": 0.001,
    "fio-randrw70-jsonplus.json": 0.001,
    "fio-client-server-2-jsonplus.json": 0.001,
    "iperf3-loopback.json": 0.001,
    "iperf3-4-streams.json": 0.001,
}
RATES = ("operations_per_second", "bytes_per_second", "operations", "duration_seconds")
#: Figures that fio's bins state, too (`json+`, which Replay uses), to within their width of 1/64.
IN_BINS = ("latency_mean_seconds", "latency_min_seconds", "latency_max_seconds")
BIN = 0.02
PERCENTILES = ("latency_p50_seconds", "latency_p95_seconds", "latency_p99_seconds", "latency_p99_9_seconds")
FEW = at_most(120)
#: How many places to cut an output at, and how often to change it.
CUTS, MUTATIONS = tried(1500), tried(180)


def tool_of(name):
    words = name.split("-")
    return adapter(words[0] if words[0] in ("fio", "iperf3") else "-".join(words[:2]))


def outcome(name, text, exit_status=0):
    """Return the result of parsing, or None for a typed error; any other exception fails the test.

    The error names the file and its line, but no line if the run was killed, failed or lost a client.
    """
    try:
        return tool_of(name).parse({"stdout": text}, exit_status, {}, names={"stdout": "a.file"})
    except OutputError as error:
        assert error.file == "a.file"
        assert error.line is not None or error.reason in ("failed", "incomplete", "client_lost"), error
        assert error.line is None or 1 <= error.line <= text.count("\n") + 1
        return None


def assert_right_or_refused(name, text):
    truth = tool_of(name).parse({"stdout": sample(name)[0]}, 0, {})
    result = outcome(name, text)
    if result is not None and result.complete:
        for metric in [one for one in RATES if one in truth.metrics]:
            assert result.metrics[metric] == pytest.approx(truth.metrics[metric], rel=SAMPLES[name]), metric
        if "jsonplus" in name:
            assert_latencies_right(result.metrics, truth)


def assert_latencies_right(found, truth):
    """Assert that latencies are right to within a bin, and percentiles exactly where fio prints them too.

    It prints those of a client's reads, and of its writes; of several together a percentile stays between the bins of
    each that stand beside it.
    """
    bins = {}
    for client, direction, low, high, _ in truth.histogram():
        bins.setdefault((client, direction), []).append((low, high))
    for which in ("", "read_", "write_"):
        for metric in [which + one for one in IN_BINS if which + one in truth.metrics]:
            assert found[metric] == pytest.approx(truth.metrics[metric], rel=BIN), metric
        for metric in [which + one for one in PERCENTILES if which + one in found]:
            value = truth.metrics[metric]
            if which:
                assert found[metric] == pytest.approx(value, rel=1e-9), metric
            else:
                below = min(max((low for low, high in one if high <= value), default=0.0) for one in bins.values())
                above = max(min((high for low, high in one if low > value), default=value) for one in bins.values())
                assert below <= found[metric] <= above * (1 + 1e-9), metric


@pytest.mark.parametrize("name", SAMPLES)
def test_every_truncated_output_is_refused_or_marked_incomplete_or_lost_only_its_end(name):
    text, _ = sample(name)
    truth = tool_of(name).parse({"stdout": text}, 0, {}).metrics
    step = max(1, len(text) // CUTS)
    for length in [*range(0, len(text), step), *range(len(text) - 80, len(text))]:
        result = outcome(name, text[:length])
        if result is not None and result.complete:
            assert result.metrics == truth
            assert not text[length:].strip(" \n}")


@pytest.mark.parametrize("name", SAMPLES)
@FEW
@given(data=st.data())
def test_a_flipped_bit_gives_a_typed_error_or_a_figure_that_agrees_with_the_rest(name, data):
    raw = bytearray(sample(name)[0].encode())
    position = data.draw(st.integers(0, len(raw) - 1))
    raw[position] ^= 1 << data.draw(st.integers(0, 7))
    assert_right_or_refused(name, raw.decode("utf-8", errors="replace"))


@pytest.mark.parametrize("name", SAMPLES)
@FEW
@given(data=st.data())
def test_two_interleaved_runs_are_never_taken_for_one(name, data):
    text, _ = sample(name)
    assert_right_or_refused(name, interleaved(text, text, data.draw(st.integers(0, 2**32))))


@pytest.mark.parametrize("name", SAMPLES)
@FEW
@given(data=st.data())
def test_a_lost_or_repeated_piece_gives_a_typed_error_or_the_right_figure(name, data):
    text, _ = sample(name)
    start = data.draw(st.integers(0, len(text)))
    end = min(len(text), start + data.draw(st.integers(1, 400)))
    assert_right_or_refused(name, text[:start] + text[end:])
    assert_right_or_refused(name, text[:end] + text[start:])


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


OUTPUTS = {output.name: output for output in outputs()}


@pytest.mark.parametrize("name", OUTPUTS)
def test_no_mutation_changes_a_figure_silently(name):
    counts, examples = tally(OUTPUTS[name], MUTATIONS, seed=1)
    assert [what for what in examples if what.startswith(WRONG)] == []
    assert sum(count for (_, outcome), count in counts.items() if outcome == ERROR) > MUTATIONS / 10


def test_every_tool_and_every_kind_of_mutation_is_tried():
    assert {output.tool for output in OUTPUTS.values()} == {"rbd-bench", "rados-bench", "fio", "iperf3"}
    tried = {kind for name in OUTPUTS for kind, _ in mutations(OUTPUTS[name], len(KINDS), seed=1)}
    assert tried == set(KINDS)


def test_the_same_seed_gives_the_same_mutations_and_another_one_others():
    output = next(iter(OUTPUTS.values()))
    first, again, other = (list(mutations(output, 50, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def changed(collection, name, old, new):
    """Return the outcome of one change of an output, and the error that it gives."""
    output = OUTPUTS[f"{collection}/{name}"]
    assert output.text.count(old) >= 1
    return judged(output, output.text.replace(old, new, 1))[0]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("rbd-bench/rbd-bench-rw-70-4k.txt", "read_ops: 10737", "read_ops: 10437"),
        ("rbd-bench/rbd-bench-rw-70-4k.txt", "read:write=70:30", "read:write=71:30"),
        ("rbd-bench/rbd-bench-read-rand-4k.txt", "2     28752", "2     48752"),
        ("rados-bench/rados-bench-write-4m.txt", "329       313", "329       312"),
        ("rados-bench/rados-bench-write-4m.txt", "624.873       616", "624.873       636"),
        ("rados-bench/rados-bench-write-4m.txt", "0.11391", "0.13391"),
        ("fio/fio-randread.json", '"mean" : 1505263.21306', '"mean" : 1405263.21306'),
        ("iperf3/iperf3-loopback.json", '"host_total":\t24.3', '"host_total":\t34.3'),
    ],
)
def test_figures_that_are_printed_twice_are_compared(name, old, new):
    collection, _, file = name.partition("/")
    if old not in OUTPUTS[name].text:
        pytest.fail(f"{name} does not say {old!r}")
    assert changed(collection, file, old, new) == ERROR


def test_an_output_as_it_was_recorded_has_the_right_figures():
    assert {judged(output, output.text) for output in OUTPUTS.values()} == {(RIGHT, "")}
