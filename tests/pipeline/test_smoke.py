"""Every experiment that ships, at smoke scale, on a real sandbox: measured, derived, described, and explained."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from replay.config.experiments import experiment_names
from support.smoke import measure_as_shipped

TESTS = Path(__file__).resolve().parents[1]


def measured_elsewhere():
    """The experiments that a test of their procedure measures as they ship, by `measure_as_shipped(campaign, NAME)`."""
    found = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == measure_as_shipped.__name__:
                name = node.args[1]
                if isinstance(name, ast.Constant):
                    found.setdefault(name.value, []).append(path.name)
    return found


ELSEWHERE = measured_elsewhere()


def test_no_experiment_is_measured_as_it_ships_by_two_tests():
    assert {name: paths for name, paths in ELSEWHERE.items() if len(paths) > 1} == {}
    assert set(ELSEWHERE) <= set(experiment_names())


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in experiment_names() if name not in ELSEWHERE])
def test_smoke(bench, name):
    measure_as_shipped(bench, name)
