"""Combines the designs in evidence, the newest first, and so decides which cells count and what is drawn of them.

A metric says what is drawn about a cell, and changes nothing in how the cell is measured. So a metric that is added to
`config/experiments/` later is drawn from older raw output too, if that contains it. Everything else in a design,
including the metrics that it lists, stays as it was recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replay.base.errors import EvidenceError
from replay.base.paths import config_directory
from replay.design.configuration import load_experiment

#: Marks a metric that the recorded design does not list.
ADDED = "added"
#: What a ratio divides: as usual, or for designs that ask how much a variant gains.
REFERENCE_ON_TOP, VARIANT_ON_TOP = "reference/variant", "variant/reference"


@dataclass(frozen=True)
class DesignCell:
    """A cell of the design: its point, its variant's name, its levels."""

    point: str
    variant: str
    levels: Mapping[str, Any]


@dataclass(frozen=True)
class CombinedDesign:
    """The newest design, with the cells that older designs add to it. `public` is the newest one as raw/ holds it."""

    public: Mapping[str, Any]
    cells: Mapping[str, DesignCell]
    variants: tuple[Mapping[str, Any], ...]
    factors: Mapping[str, tuple[Any, ...]]

    @property
    def labels(self) -> Mapping[str, str]:
        """Each variant's label by its name, in the order of the designs."""
        return {variant["name"]: variant["label"] for variant in self.variants}

    @property
    def reference(self) -> str | None:
        """The name of the variant with which the others are compared, or None."""
        return next((variant["name"] for variant in self.variants if variant.get("reference")), None)

    @property
    def ratio_direction(self) -> str:
        """What a ratio divides by what. Unless the design says otherwise, the reference is on top."""
        return self.public.get("ratio_direction") or REFERENCE_ON_TOP

    @property
    def workload_factors(self) -> tuple[str, ...]:
        """The factors that choose the chart."""
        return tuple(self.public["workload_factors"])

    @property
    def x_factor(self) -> str | None:
        """The factor along the chart's axis; None if each trial is a point of its own."""
        return self.public.get("x_factor")

    @property
    def kind(self) -> str:
        """`wide` (a shared axis of sizes), `long` (another measured axis) or `trials` (no axis, one dot per block)."""
        if self.x_factor is None:
            return "trials"
        return "wide" if self.public.get("x_unit") == "bytes" else "long"

    def workload(self, levels: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the levels that name the chart."""
        return tuple(levels[factor] for factor in self.workload_factors)

    def x(self, levels: Mapping[str, Any]) -> Any:
        """Return the level along the axis, or None."""
        return None if self.x_factor is None else levels[self.x_factor]

    def check(self, where: str) -> None:
        """Raise EvidenceError if two points would share a place in a chart."""
        places: dict[tuple, str] = {}
        for cell in self.cells.values():
            if places.setdefault((self.workload(cell.levels), self.x(cell.levels)), cell.point) != cell.point:
                raise EvidenceError(
                    f"two points would share a place in a chart: {cell.point!r}; "
                    f"x_factor and workload_factors do not tell them apart",
                    where=where,
                    next_step="add the missing factor to workload_factors and measure with that design",
                )


def combine(
    designs: Mapping[str, Mapping[str, Any]],
    receipts: Iterable[Mapping[str, Any]],
    last_attempt: tuple[str, frozenset[str]] | None,
) -> CombinedDesign:
    """Combine designs: the newest gives labels, axes and metrics; older ones add cells at points that it lacks.

    A design is as new as the last receipt that names it, or as the last attempt (its end, its cell ids) if that
    measured its cells. A cell of an older design is abandoned if a newer one has its point and variant as well.
    """
    receipts = list(receipts)
    newest: dict[str, str] = dict.fromkeys(designs, "")
    for receipt in receipts:
        if receipt.get("design") in newest:
            newest[receipt["design"]] = max(newest[receipt["design"]], str(receipt.get("ended_at") or ""))
    if last_attempt:
        ended_at, cells = last_attempt
        for digest, design in designs.items():
            if cells <= design["cells"].keys():
                newest[digest] = max(newest[digest], ended_at)
    order = sorted(designs, key=lambda digest: (newest[digest], len(designs[digest]["cells"]), digest), reverse=True)
    first = {**designs[order[0]]}
    first["skipped"] = [*first.get("skipped", ()), *_refused(receipts)]
    cells: dict[str, DesignCell] = {}
    taken: set[tuple[str, str]] = set()
    variants = {variant["name"]: variant for variant in first["variants"]}
    factors = {name: list(levels) for name, levels in first["factors"].items()}
    for digest in order:
        design = designs[digest]
        if not _same_axes(design, first):
            continue
        for cell_id, raw in sorted(design["cells"].items()):
            if (raw["point"], raw["variant"]) not in taken:
                taken.add((raw["point"], raw["variant"]))
                cells[cell_id] = DesignCell(raw["point"], raw["variant"], raw["levels"])
        for variant in design["variants"]:
            # Only the newest design names the reference.
            variants.setdefault(variant["name"], {**variant, "reference": False})
        for name, levels in design["factors"].items():
            factors[name] += [level for level in levels if level not in factors[name]]
    # JSON with sorted keys loses the order of the factors. Charts are named in the order of the workload's factors.
    named = [*first["workload_factors"], *([first["x_factor"]] if first.get("x_factor") else [])]
    names = [*named, *sorted(factors.keys() - set(named))]
    return CombinedDesign(first, cells, tuple(variants.values()), {name: _ordered(factors[name]) for name in names})


def _refused(receipts: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the variants that the cluster refused to create, according to the newest receipt."""
    last = max(receipts, key=lambda receipt: str(receipt.get("ended_at") or ""), default={})
    return list(last.get("skipped", ()))


def _same_axes(design: Mapping[str, Any], first: Mapping[str, Any]) -> bool:
    keys = ("workload_factors", "x_factor")
    return all(design.get(key) == first.get(key) for key in keys) and set(design["factors"]) == set(first["factors"])


def _ordered(levels: list[Any]) -> tuple[Any, ...]:
    """Return the levels: numbers sorted by size, words in the order of the designs."""
    return tuple(sorted(levels) if all(isinstance(level, int | float) for level in levels) else levels)


def configured_metrics(experiment: str) -> list[Mapping[str, Any]]:
    """Return the metrics of `config/experiments/<experiment>.yaml`; empty if there is no such file.

    Raises ConfigurationError if the file is invalid, so that a mistake in it cannot remove charts unnoticed.
    """
    if not (config_directory() / "experiments" / f"{experiment}.yaml").is_file():
        return []
    return load_experiment(experiment)["metrics"]


def with_added(design: Mapping[str, Any], metrics: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a recorded design with the metrics whose names it does not list, marked as added."""
    listed = {metric["name"] for metric in design.get("metrics", ())}
    added = [{**metric, ADDED: True} for metric in metrics if metric["name"] not in listed]
    return {**design, "metrics": [*design.get("metrics", ()), *added]}
