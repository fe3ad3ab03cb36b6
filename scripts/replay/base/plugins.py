"""Finds modules by name, such as a procedure or a tool, so that there is no list to extend.

Through this a lower room can use a higher room's modules without importing them.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from functools import cache
from types import ModuleType


def module_names(package: str) -> list[str]:
    """Return the names of a package's modules, without importing them. Subpackages do not count."""
    return list(_module_names(package))


@cache
def _module_names(package: str) -> tuple[str, ...]:
    found = importlib.util.find_spec(package)
    if found is None or found.submodule_search_locations is None:
        raise ModuleNotFoundError(package)
    modules = pkgutil.iter_modules(found.submodule_search_locations)
    return tuple(sorted(one.name for one in modules if not one.ispkg and not one.name.startswith("_")))


def load(package: str, name: str) -> ModuleType:
    """Return a module of a package. Raises ModuleNotFoundError if there is no module of that name."""
    return importlib.import_module(f"{package}.{name}")
