"""What mirroring costs: what a write pays for it, typical and tail, and what a lost site takes with it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from replay.base.stats import QUANTILE, confidence_of_largest
from replay.design.link import RTT
from replay.exchange.page import DIAMOND, DOT, NUMBER, RING, STROKE, Column, Row, paragraph, section, strip, table
from replay.exchange.report.data_set import (
    NOTHING,
    DataSet,
    MeasuredMode,
    MeasuredPlace,
    ReportPart,
    Runs,
    between,
    n_of,
    number_of,
    per_second,
    seconds,
    share,
    size,
    told,
)

_TYPICAL, _TAIL, _RARE = "latency_p50_seconds", "latency_p99_seconds", "latency_p99_9_seconds"
#: Mirroring that mostly happens after the client has ended costs it nothing while it writes.
_MOSTLY = 0.8
_METHOD = (
    "All modes take turns in random order within a block, on images of their own. Typical: the median; slowest of 100: "
    "the 99th percentile, where a run has enough writes for it. A figure is the median over the runs, the slowest of "
    "all that of all runs. ÷: the mean of the ratios within a block, with its 95 % interval; one that contains 1 means "
    "that these runs cannot tell the two apart."
)


def price(data: DataSet) -> ReportPart:
    """Return what writes pay, and what of it was not measured."""
    # What arrives at an offered rate comes first: only there the tail means something. Distances come later.
    places = sorted(data.places("write_latency"), key=lambda place: (not _has_tail(place), RTT in place.levels))
    if not places:
        return ReportPart(missing=(f"What a write pays. {data.to_measure('write-latency')}",))
    lacking = (
        "The slowest of a hundred writes, at a rate that every mode keeps up with: only a writer that waits for "
        f"each write was measured, which writes little in slow moments. {data.to_measure('write-latency')}"
    )
    return ReportPart(
        _headline(places[0]),
        _basis(places[0]),
        section("What a write pays", paragraph(_METHOD, "muted"), *map(_point, places)),
        () if _has_tail(places[0]) else (lacking,),
    )


def _has_tail(place: MeasuredPlace) -> bool:
    return place.levels.get("load") != "one-writer"


def _headline(place: MeasuredPlace) -> str:
    """Return what the mirrored modes pay, and what the reference does."""
    reference = place.experiment.reference
    copied = ("replayed_fraction_during_cell", "snapshots_taken_in_cell")
    modes = [mode for mode in place.modes if mode.label == reference or any(mode.values(column) for column in copied)]
    texts = []
    for mode in sorted(modes, key=lambda mode: mode.label == reference):
        typical = mode.middle_seconds(_TYPICAL)
        tail = mode.middle_seconds(_TAIL) if _has_tail(place) else NOTHING
        if texts:
            texts.append(f"{mode.label}: {typical}" + ("" if tail == NOTHING else f" and {tail}"))
        else:
            slowest = "" if tail == NOTHING else f", the slowest of a hundred {tail}"
            texts.append(f"{mode.label}: the typical write of {_size(place)} takes {typical}{slowest}")
    return ". ".join(texts) + "." if texts else ""


def _basis(place: MeasuredPlace) -> str:
    modes = place.modes
    sentence = f"{_load(place)}; {n_of(modes)}. What ran out: {place.ran_out}."
    late = [mode.label for mode in modes if (copied := _copied(mode)) and copied[0] < _MOSTLY]
    if late:
        sentence += f" Less than {share(_MOSTLY)} was copied while the client wrote: {', '.join(late)}."
        sentence += " What copying the rest costs a write is not in these figures."
    return sentence


def _load(place: MeasuredPlace) -> str:
    """Return in words how writes came."""
    if not _has_tail(place):
        return f"One writer of {_size(place)} that waits for each write{place.distance}"
    rates = place.values("offered_operations_per_second")
    at = f", {between(rates, per_second)} a second, the same for every mode" if rates else ""
    return f"Writes of {_size(place)}{at}{place.distance}"


def _size(place: MeasuredPlace) -> str:
    levels = place.levels
    return size(float(levels["io_size_bytes"])) if "io_size_bytes" in levels else "the size of this experiment"


def _copied(runs: Runs) -> tuple[float, str] | None:
    """Return the part that was copied while the client wrote, as a fraction and in words; None if nothing was to be."""
    if (replayed := runs.middle("replayed_fraction_during_cell")) is not None:
        return replayed, share(replayed)
    taken, synced = runs.middle("snapshots_taken_in_cell"), runs.middle("snapshots_synced_in_cell")
    return (synced / taken, f"{synced:g} of {taken:g}") if taken and synced is not None else None


def _snapshots(runs: Runs) -> str:
    """Return how often snapshots came, whatever was ordered."""
    if (distance := runs.middle("snapshot_distance_median_seconds")) is not None:
        return f"each {seconds(distance)}"
    taken = runs.middle("snapshots_taken_in_cell")
    return f"{taken:g} in {runs.middle('duration_seconds'):.0f} s" if taken else NOTHING


def _to_disk(runs: Runs) -> str:
    """Return the bytes that reach the disks of each site for each byte that the client writes."""
    here, there = (runs.middle(column) for column in ("media_bytes_per_byte", "second_media_bytes_per_byte"))
    if here is None:
        return NOTHING
    return f"{here:.1f}" if there is None else f"{here:.1f} + {there:.1f}"


def _point(place: MeasuredPlace) -> str:
    """Return the chart and the table of one load."""
    title = _load(place)
    return section(title, _chart(place.modes, title) if _has_tail(place) else "", _table(place, title), level=3)


def _chart(modes: Sequence[MeasuredMode], title: str) -> str:
    rows = []
    for mode in modes:
        points = {_TYPICAL: DOT, _TAIL: RING}
        marks = [(value, kind) for column, kind in points.items() if (value := mode.middle(column))]
        if marks:
            text = ", ".join(text for column in points if (text := mode.middle_seconds(column)) != NOTHING)
            rows.append(Row(mode.label, text, marks, [value for value, _ in marks]))
    key = "● typical write, ○ slowest of a hundred"
    return strip(rows, title, key, seconds, "logarithmic") if len(rows) > 1 else ""


def _table(place: MeasuredPlace, title: str) -> str:
    experiment, modes = place.experiment, place.modes

    def figures(name: str, column: str) -> Column:
        return Column(name, [mode.middle_seconds(column) for mode in modes], NUMBER)

    def ratios(name: str, column: str) -> Column:
        turned = experiment.entry.get("ratio_direction") == "reference/variant"
        divided = f"{experiment.reference} ÷ {name}" if turned else f"{name} ÷ {experiment.reference}"
        return Column(divided, [mode.ratio(column) for mode in modes], NUMBER)

    tail = [
        figures("slowest of 100", _TAIL),
        ratios("slowest of 100", _TAIL),
        figures("slowest of 1,000", _RARE),
        Column("slowest of all", [seconds(mode.largest("latency_max_seconds")) for mode in modes], NUMBER),
    ]
    columns = [
        Column("mode", [mode.label for mode in modes]),
        figures("typical", _TYPICAL),
        ratios("typical", _TYPICAL),
        *(tail if _has_tail(place) else []),
        Column("bytes to disk per byte, first + second site", [_to_disk(mode) for mode in modes], NUMBER),
        Column("n", [str(len(mode)) for mode in modes], NUMBER),
        Column("snapshots taken", [_snapshots(mode) for mode in modes], NUMBER),
        Column("copied meanwhile", [copied[1] if (copied := _copied(mode)) else NOTHING for mode in modes], NUMBER),
        Column("ran out of", [mode.ran_out for mode in modes]),
    ]
    return table(told(columns), f"{experiment.name}: {title}")


# The loss ------------------------------------------------------------------------------------------------------------

#: The columns of the loss, by protocol; the first protocol that was measured counts, and of its columns the first that
#: has a value: where nothing is copied later, as in a stretch cluster, there is no recovery point.
LOST = {"site_loss": ("recovery_point_seconds", "lost_seconds"), "failover": ("lost_seconds",)}
_FIRST_WRITE = "seconds_to_first_write"
#: The mirror daemon of `failover` goes on fetching after the first site has ended.
_SMALLER = (
    "Here the mirror daemon went on fetching after the loss, so a real loss is larger (site-loss stops it as well)."
)
_PEOPLE = (
    "People: nobody had to notice the loss, to decide, or to move clients. The times to the first write are the least "
    "that is possible. An exercise with the people on call shows the rest."
)


def losses(data: DataSet) -> list[tuple[MeasuredPlace, str]]:
    """Return where a site was lost, each with the column of the loss: the trials of one protocol.

    Each distance between the sites is apart, and comes after those without one.
    """
    for protocol, columns in LOST.items():
        lost = [
            (place, column)
            for place in sorted(data.places(protocol), key=lambda place: RTT in place.levels)
            # Trials in which the first site was handed over lost nothing.
            if place.levels.get("kind", "forced") == "forced"
            and (column := next((name for name in columns if place.values(name)), None))
        ]
        if lost:
            return lost
    return []


def loss(data: DataSet) -> ReportPart:
    """Return what was lost with the site, and what of it was not measured."""
    lost = losses(data)
    if not lost:
        command = f"{data.to_measure('site-loss')}, or failover on a cluster that Replay did not start"
        return ReportPart(missing=(f"What a lost site takes with it. {command}",))
    place, column = lost[0]
    worst = [f"{seconds(mode.largest(column))} ({mode.label})" for mode in place.modes]
    return ReportPart(
        f"A lost site took with it, at worst, acknowledged writes of the last {', '.join(worst)}.",
        _loss_basis(place),
        section("What a lost site takes with it", *(_trials(*each) for each in lost)),
        (_PEOPLE,),
    )


def _loss_basis(place: MeasuredPlace) -> str:
    rates = place.values("writes_per_second")
    at = f", at {between(rates, per_second)} writes a second" if rates else ""
    sentence = f"The worst of {n_of(place.modes)}{at}. What ran out: {place.ran_out}."
    hung = sum(place.values("promotion_hung"))
    if hung:
        sentence += (
            f" In {hung:.0f} of {len(place)} losses nobody could write at the second site until its mirror daemon"
            " was killed."
        )
    return f"{sentence} {_SMALLER}" if place.experiment.entry["protocol"] == "failover" else sentence


def _trials(place: MeasuredPlace, column: str) -> str:
    """Return the method, the chart and the table of the trials at one place."""
    experiment, modes = place.experiment, place.modes
    least = min(len(mode) for mode in modes)
    method = (
        "Each mark is a trial: what the second site then lacked of the acknowledged writes, in seconds. "
        f"The worst of {number_of(least, 'trial')} is not the worst that can happen: with "
        f"{share(confidence_of_largest(least))} confidence, {share(QUANTILE)} of losses are no larger."
    )
    if experiment.entry["protocol"] == "failover":
        method += f" {_SMALLER}"
    hung = any(place.values("promotion_hung"))
    key = "❘ one lost site" + ("  ◆ the promotion hung until the mirror daemon was killed" if hung else "")
    title = f"{experiment.name}: seconds of acknowledged writes lost with the site{place.distance}"
    chart = strip([_row(mode, column) for mode in modes], title, key, seconds, "linear")
    return "\n".join([paragraph(method, "muted"), chart, _loss_table(modes, column, title)])


def _row(mode: MeasuredMode, column: str) -> Row:
    marks = [
        (trial[column], DIAMOND if trial.get("promotion_hung") == 1 else STROKE)
        for trial in mode.stating(column).table.to_dict("records")
    ]
    text = f"{seconds(mode.middle(column))}, at worst {seconds(mode.largest(column))}"
    return Row(mode.label, text, marks)


def _loss_table(modes: Sequence[MeasuredMode], column: str, caption: str) -> str:
    # Where a promotion hung, the time contains how long the trial waited before it killed the daemon.
    smooth = [
        Runs(mode.table[mode.table["promotion_hung"] != 1]) if mode.values("promotion_hung") else mode for mode in modes
    ]
    lost_writes = [mode.largest("lost_writes") for mode in modes]
    columns = [
        Column("mode", [mode.label for mode in modes]),
        Column("median", [seconds(mode.middle(column)) for mode in modes], NUMBER),
        Column("at worst", [seconds(mode.largest(column)) for mode in modes], NUMBER),
        Column("writes lost at worst", [NOTHING if lost is None else f"{lost:,.0f}" for lost in lost_writes], NUMBER),
        Column("first write after, median", [seconds(mode.middle(_FIRST_WRITE)) for mode in smooth], NUMBER),
        Column("longest", [seconds(mode.largest(_FIRST_WRITE)) for mode in smooth], NUMBER),
        Column("hung until killed", [_hung(mode) for mode in modes], NUMBER),
        Column("n", [str(len(mode)) for mode in modes], NUMBER),
        Column("ran out of", [mode.ran_out for mode in modes]),
    ]
    return table(told(columns), f"{caption}. The times to the first write leave out trials that hung.")


def _hung(trials: Runs) -> str:
    hung = trials.values("promotion_hung")
    return f"{sum(hung):.0f} of {len(hung)}" if hung else NOTHING
