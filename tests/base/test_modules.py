"""Every module of the package can be imported, so a name that moved is found without a cluster."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import replay

MODULES = sorted(found.name for found in pkgutil.walk_packages(replay.__path__, "replay."))


def test_the_whole_package_was_walked():
    assert {"replay.base.errors", "replay.measure.runner", "replay.tools.running.process"} <= set(MODULES)


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith(".__main__")])
def test_a_module_can_be_imported(name):
    importlib.import_module(name)
