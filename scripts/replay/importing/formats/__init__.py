"""One module a tool: whether a text is of it, which runs it tells of, and what those were asked to do. Pure.

A module has `FAMILY` (the tool's name for a person, a slug), `knows(text)` and `read(text)`, which returns what it
found and what it did not take. Whether the figures agree with each other, the readers of `tools/imported` judge.
"""

from __future__ import annotations

from types import ModuleType

from replay.importing.formats import elbencho, fio, rados_bench, rbd_bench

FORMATS: tuple[ModuleType, ...] = (fio, rbd_bench, rados_bench, elbencho)
