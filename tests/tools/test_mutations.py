"""A damaged output gives an error or the right figures: the short run of `scripts/mutate_outputs.py`."""

import pytest

from support.mutations import ERROR, KINDS, RIGHT, WRONG, judged, mutations, outputs, tally

OUTPUTS = {output.name: output for output in outputs()}
MUTATIONS = 180


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
