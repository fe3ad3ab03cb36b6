"""One module for each tool: whether a text is its output, which runs it contains, and what they were asked to do. Pure.

A module has `FAMILY` (the tool's name for a person, a slug), `knows(text)` and `read(text)`, which returns what it
found and what it left out. The readers in `tools/imported` judge whether the figures agree with each other.
"""

from __future__ import annotations

from types import ModuleType

from replay.exchange.importing.formats import elbencho, fio, rados_bench, rbd_bench

FORMATS: tuple[ModuleType, ...] = (fio, rbd_bench, rados_bench, elbencho)
