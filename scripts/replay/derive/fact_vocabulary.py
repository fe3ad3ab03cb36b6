"""The facts of a cell that a claim may presuppose: their names, types and units, and where each comes from. Pure.

A fact is empty if the evidence does not state it: data sets that were measured before it was recorded lack it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FactType(Enum):
    """The kind of values that a fact has, and so how several runs of one cell are judged together.

    For fractions, ratios and seconds, the median of the runs counts. A count must be right in every run, and a word in
    more than half of them.
    """

    FRACTION = "fraction"
    RATIO = "ratio"
    SECONDS = "seconds"
    COUNT = "count"
    WORD = "word"


@dataclass(frozen=True)
class Fact:
    """One fact: its type, and its name, which is also its column in tidy.csv.

    `noun` names it in a sentence, `says` explains it, and `origin` is the part of the evidence that states it. `words`
    are the values of a fact of type WORD.
    """

    name: str
    type: FactType
    noun: str
    says: str
    origin: str
    words: tuple[str, ...] = ()


_ALL = (
    Fact(
        "idle_cpu_fraction",
        FactType.FRACTION,
        "the idle share of the CPU",
        "share of its CPU time that the busiest machine known to run the cluster left idle",
        "`samples.daemons.machine` (the steady load), else `samples.prometheus`, else `load` (the whole run)",
    ),
    Fact(
        "limiter",
        FactType.WORD,
        "what limited the cell",
        "the resource that was at its limit",
        "[what limited a cell](deriving.md#what-limited-a-cell)",
        ("cpu", "disk", "network", "none"),
    ),
    Fact(
        "load_seconds",
        FactType.SECONDS,
        "the length of the load",
        "how long the client's load lasted",
        "`duration_seconds` of the tool's output",
    ),
    Fact(
        "offered_share_met",
        FactType.FRACTION,
        "the share of the offered load that was met",
        "operations finished, as a share of those that were offered",
        "the tool's output and the fact `offered_operations_per_second`",
    ),
    Fact(
        "replayed_fraction_during_cell",
        FactType.FRACTION,
        "the share that was replayed while the client wrote",
        "bytes that the mirror daemon replayed of the journal while the client wrote, as a share of those written",
        "the fact `replayed_bytes_in_cell`, or the daemon's counters over time",
    ),
    Fact(
        "poll_ages_in_cell",
        FactType.RATIO,
        "the number of poll ages in the cell",
        "how many times the mirror daemon looked for new journal entries at the least while the client wrote",
        "`load_seconds` and the fact `journal_poll_age_seconds`",
    ),
    Fact(
        "offered_to_replay_ratio",
        FactType.RATIO,
        "the offered load over the daemon's own rate of replay",
        "bytes that the client was to write a second, over those that the daemon replayed a second while it replayed",
        "the level `writes_per_second` and the daemon's counters over time",
    ),
    Fact(
        "snapshots_taken_in_cell",
        FactType.COUNT,
        "the number of snapshots taken in the cell",
        "mirror snapshots that were taken while the client wrote",
        "the fact `snapshots_taken`",
    ),
    Fact(
        "snapshots_synced_in_cell",
        FactType.COUNT,
        "the number of snapshots copied within the cell",
        "mirror snapshots that were complete on the second cluster before the client had ended",
        "the fact `snapshots_copied_in_cell`, or the looks at the copy over time",
    ),
    Fact(
        "snapshot_intervals_in_cell",
        FactType.RATIO,
        "the number of snapshot intervals in the cell",
        "how many intervals between mirror snapshots the load lasted",
        "`load_seconds` and the fact `snapshot_interval_seconds`",
    ),
    Fact(
        "daemons_stopped",
        FactType.COUNT,
        "the number of daemons stopped at the loss",
        "daemons of the first site that were stopped when it was lost, until the second site had had its first write",
        "the fact of the same name",
    ),
    Fact(
        "machine_cpu_seconds_per_operation",
        FactType.SECONDS,
        "the CPU time per operation",
        "CPU time of the whole machine, the client's included, for each operation",
        "`samples.daemons.machine`, the cores of the host, and the tool's output",
    ),
    Fact(
        "machine_cpu_seconds_per_byte",
        FactType.SECONDS,
        "the CPU time per byte",
        "CPU time of the whole machine, the client's included, for each byte",
        "`samples.daemons.machine`, the cores of the host, and the tool's output",
    ),
)
#: By name.
FACTS = {fact.name: fact for fact in _ALL}
