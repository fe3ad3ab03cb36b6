"""The formats of results: whether a text is output of a tool, which runs it contains, what they were to do. Pure.

A format has `family` (the tool's name for a person, a slug), `knows(text)` and `read(text)`, which returns what it
found and what it left out. The readers in `replay.tools` then read the figures.
"""

from __future__ import annotations

from replay.exchange.importing.formats.ceph import RadosBench, RbdBench
from replay.exchange.importing.formats.elbencho import Elbencho
from replay.exchange.importing.formats.fio import Fio
from replay.exchange.importing.formats.fio_text import FioText

FORMATS = (Fio, FioText, RbdBench, RadosBench, Elbencho)
