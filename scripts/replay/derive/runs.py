"""`aggregate/runs.csv`: every run behind the points of an experiment's charts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from replay.base.tables import number_text


class Run(NamedTuple):
    """One run of a point, or one pair of a ratio: its value, its block, and the attempt from which it comes."""

    series: str
    x: float
    y: float
    block: int
    attempt: int


@dataclass(frozen=True)
class Runs:
    """The runs behind a chart, made whenever they are needed: keeping those of all charts would take most memory."""

    make: Callable[[], Iterable[Run]]

    def __iter__(self) -> Iterator[Run]:
        return iter(self.make())

    def __bool__(self) -> bool:
        return any(True for _ in self)


RUNS_FILE = "runs.csv"
#: What the manifest says of a chart's runs if each is a line.
LINES = "lines"
RUNS_HEADER = ("chart", *Run._fields)


def runs_rows(runs: Mapping[str, Iterable[Run]]) -> Iterator[Sequence[str]]:
    """Yield the rows of `runs.csv`, sorted by chart. Each chart's runs keep their order."""
    yield RUNS_HEADER
    for chart in sorted(runs):
        for one in runs[chart]:
            yield [chart, one.series, *map(number_text, one[1:])]
