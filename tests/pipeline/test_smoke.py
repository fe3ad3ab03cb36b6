"""Every experiment that ships, at smoke scale, on a real sandbox: measured, derived, described, and explained."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

from replay.design.configuration import experiment_names, load_experiment
from support.smoke import AT_A_RATE, measure_as_shipped

TESTS = Path(__file__).resolve().parents[1]


class Elsewhere(NamedTuple):
    """A test that calls `measure_as_shipped(campaign, NAME, …)`."""

    name: str
    test: str
    marks: set[str]


def measured_elsewhere():
    """The experiments that a test of their procedure measures as they ship."""
    found = []
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text()
        # Each process of a parallel run comes here: only the files that say the name are parsed.
        for function in ast.parse(text if measure_as_shipped.__name__ in text else "").body:
            if not isinstance(function, ast.FunctionDef):
                continue
            marks = {getattr(one, "attr", "") for one in function.decorator_list}
            for node in ast.walk(function):
                if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != measure_as_shipped.__name__:
                    continue
                names = [one.value for one in node.args[1:] if isinstance(one, ast.Constant)]
                found += [Elsewhere(name, f"{path.name}::{function.name}", marks) for name in names]
    return found


ELSEWHERE = measured_elsewhere()
NAMED_ELSEWHERE = [one.name for one in ELSEWHERE]


def measured_together():
    """The other experiments: those of one list are measured in one run, because starting a run takes as long as it.

    A list has about four, so that no worker is still busy with one when the others have ended.
    """
    together = {}
    for name in experiment_names():
        if name not in NAMED_ELSEWHERE:
            together.setdefault(load_experiment(name)["protocol"] in AT_A_RATE, []).append(name)
    dealt = []
    for names in together.values():
        lists = max(1, len(names) // 3)
        dealt += [names[at::lists] for at in range(lists)]
    return dealt


def test_no_experiment_is_measured_as_it_ships_by_two_tests():
    assert [name for name in NAMED_ELSEWHERE if NAMED_ELSEWHERE.count(name) > 1] == []
    assert set(NAMED_ELSEWHERE) <= set(experiment_names())


def test_every_experiment_is_measured_on_every_release():
    assert [one.test for one in ELSEWHERE if not {"sandbox", "of_release"} <= one.marks] == []


@pytest.mark.sandbox
@pytest.mark.of_release
@pytest.mark.slow
@pytest.mark.parametrize("names", measured_together(), ids=" ".join)
def test_smoke(bench, names):
    measure_as_shipped(bench, *names)
