"""Decides which parts of a sidecar stay in memory once its cell is a row. Pure.

A hundred thousand cells fit into memory only if each holds little: just the parts that later steps ask for, with equal
parts of many cells shared as one object.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping
from functools import lru_cache
from sys import intern
from typing import Any

#: Facts of sidecars that are part of the set-up. The manifest states them if the design does not.
RECORDED_FACTS = ("snapshot_interval_seconds", "replicas", "osds_per_class")
_AS_IT_IS = ("started_at", "ended_at", "tool_seconds", "git_dirty")
_SHARED = ("experiment", "git_commit", "limiter", "limiter_rule", "host", "versions", "waits")
#: The version of `marshal`'s format in which equal values have equal bytes. Later versions also note shared objects.
_EQUAL_BYTES = 0
_OF_LOAD = ("cpu_idle_fraction", "disk_busy_fraction")


def kept_sidecar(sidecar: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parts of a sidecar that later steps ask for. A part that the sidecar lacks is left out."""
    kept = {key: sidecar[key] for key in _AS_IT_IS if key in sidecar}
    kept |= {key: shared(sidecar[key]) for key in _SHARED if key in sidecar}
    load, facts, samples = (sidecar.get(key) or {} for key in ("load", "facts", "samples"))
    kept["load"] = compact({key: load[key] for key in _OF_LOAD if key in load})
    kept["facts"] = shared({key: facts[key] for key in RECORDED_FACTS if key in facts})
    # Finding what limited a cell takes the machine's sample, and whether Prometheus observed other machines.
    machine = (samples.get("daemons") or {}).get("machine")
    kept["samples"] = {"daemons": {"machine": machine}} if machine else shared({})
    if "prometheus" in samples:
        kept["samples"] = {**kept["samples"], "prometheus": shared({})}
    return compact(kept)


class _Compact(Mapping[str, Any]):
    """A mapping that takes half the memory of a dict: mappings with the same names share one table of them."""

    __slots__ = ("_places", "_values")

    def __init__(self, places: Mapping[str, int], values: tuple[Any, ...]) -> None:
        self._places = places
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[self._places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a name. Each field of each row comes from here, and Mapping's own `get` is slower."""
        place = self._places.get(name)
        return default if place is None else self._values[place]


def compact(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an equal mapping that takes less memory."""
    return _Compact(_places_of(tuple(values)), tuple(values.values())) if values else shared({})


@lru_cache(maxsize=4096)
def _places_of(names: tuple[str, ...]) -> dict[str, int]:
    return {intern(name): place for place, name in enumerate(names)}


def shared(value: Any) -> Any:
    """Return a value from a JSON document; equal values become one object, which nobody may change."""
    return intern(value) if isinstance(value, str) else _one_of_each(marshal.dumps(value, _EQUAL_BYTES))


@lru_cache(maxsize=4096)
def _one_of_each(content: bytes) -> Any:
    return marshal.loads(content)
