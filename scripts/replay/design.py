"""From an experiment's factors to cells, sets and blocks, in a reproducible random order. Pure.

A *cell* is one combination of levels; a *set* is every variant of one point; a *block* is every set once.
Order is drawn by sorting on a hash of (seed, name): a uniformly random permutation that stays what it was for the
sets that were there before when a level is added (Fisher-Yates over a longer list would reshuffle all).
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from replay.errors import ConfigurationError

SCALES = ("smoke", "quick", "talk")


def canonical_json(value: Any) -> str:
    """Return the one JSON text of `value`: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest_of(value: Any, digits: int = 12) -> str:
    """Return the first hexadecimal digits of the SHA-256 of the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:digits]


@dataclass(frozen=True)
class Image:
    """Geometry and features of a block device image, and how it is mirrored (None, "journal" or "snapshot")."""

    size_bytes: int
    object_size_bytes: int
    features: tuple[str, ...]
    mirroring: str | None = None


@dataclass(frozen=True)
class Sizing:
    """How long a cell lasts: a target for its pilot, and the bounds under which it is void."""

    target_seconds: float
    minimum_seconds: float
    minimum_operations: int


@dataclass(frozen=True)
class Variant:
    """A level of the factor under comparison."""

    name: str
    label: str
    image_name: str
    image: Image
    client_options: Mapping[str, str]
    levels: Mapping[str, Any] = field(default_factory=dict)
    reference: bool = False
    control: bool = False
    requires: tuple[str, ...] = ()
    #: The variant whose pilot sizes this one's cells; its own name where it has a pilot of its own.
    size_of: str = ""


@dataclass(frozen=True)
class Cell:
    """One variant of one point. `cell_id` digests all that changes its measurement."""

    cell_id: str
    point: str
    variant: Variant
    levels: Mapping[str, Any]


@dataclass(frozen=True)
class CellSet:
    """All variants of one point, in the design's order (the order as run is drawn per block and attempt)."""

    point: str
    levels: Mapping[str, Any]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Skip:
    """A variant, or (variant None) the whole experiment, that a site cannot measure, with the missing word."""

    variant: str | None
    requires: str
    detail: str


@dataclass(frozen=True)
class Design:
    """An experiment at one scale on one site."""

    name: str
    scale: str
    blocks: int
    configuration: Mapping[str, Any]
    options: Mapping[str, Any]
    factors: Mapping[str, tuple[Any, ...]]
    sizing: Sizing
    variants: tuple[Variant, ...]
    sets: tuple[CellSet, ...]
    skipped: tuple[Skip, ...]

    def public(self) -> dict[str, Any]:
        """Return what `raw/design-<digest>.json` holds: all that derive needs, and nothing of the site."""
        raw = self.configuration
        return {
            "schema_version": 1,
            "experiment": self.name,
            "title": raw["title"],
            "scale": self.scale,
            "protocol": raw["protocol"],
            "tool": raw["tool"],
            "sources": list(raw["sources"]),
            "x_factor": raw.get("x_factor"),
            "x_label": raw.get("x_label"),
            "x_unit": raw.get("x_unit"),
            "workload_factors": list(raw["workload_factors"]),
            "factors": {name: list(levels) for name, levels in self.factors.items()},
            "options": dict(self.options),
            "target_seconds": self.sizing.target_seconds,
            **self._image_geometry(),
            "variants": [
                {"name": v.name, "label": v.label, "reference": v.reference, "control": v.control}
                for v in self.variants
            ],
            "metrics": [dict(metric) for metric in raw["metrics"]],
            "ratio_direction": raw.get("ratio_direction", "reference/variant"),
            "cells": {
                cell.cell_id: {"point": cell.point, "variant": cell.variant.name, "levels": dict(cell.levels)}
                for one in self.sets
                for cell in one.cells
            },
            "skipped": [{"variant": s.variant, "requires": s.requires, "detail": s.detail} for s in self.skipped],
        }

    def _image_geometry(self) -> dict[str, int]:
        """Return the size of the images and of their objects, where the experiment has images."""
        if "image" not in self.configuration:
            return {}
        images = {(variant.image.size_bytes, variant.image.object_size_bytes) for variant in self.variants}
        return dict(zip(("image_size_bytes", "object_size_bytes"), images.pop(), strict=True)) if images else {}

    @property
    def digest(self) -> str:
        """Digest of the public design; names its file."""
        return digest_of(self.public())


def plan_digest(design: Design, block: int) -> str:
    """Return the digest that names a block's receipt: the block's number and the cells of its sets, nothing else."""
    return digest_of({"block": block, "cells": sorted(c.cell_id for s in design.sets for c in s.cells)})


def block_seed(data_set: str, experiment: str, block: int) -> int:
    """Return the seed of a block: fixed by its name, so that a dry run shows the order that will be run."""
    return int(digest_of([data_set, experiment, block], 8), 16)


def shuffled(names: Iterable[str], *key: Any) -> list[str]:
    """Return `names` in the random order that `key` (the seed and what is being ordered) fixes."""
    return sorted(names, key=lambda name: digest_of([*key, name], 64))


def order_of_sets(design: Design, seed: int) -> list[CellSet]:
    """Return the design's sets in the block's random order.

    Levels of a hard-to-change factor are randomised as whole plots: sets that share them stay together.
    """
    hard = tuple(design.configuration.get("hard_to_change", ()))
    by_point = {one.point: one for one in design.sets}

    def key(point: str) -> tuple[str, ...]:
        levels = by_point[point].levels
        plots = tuple(digest_of([seed, factor, levels[factor]], 64) for factor in hard)
        return (*plots, digest_of([seed, "set", point], 64))

    return [by_point[point] for point in sorted(by_point, key=key)]


def order_of_cells(one: CellSet, seed: int, attempt: int) -> list[Cell]:
    """Return a set's cells in the random order of that attempt."""
    by_name = {cell.variant.name: cell for cell in one.cells}
    return [by_name[name] for name in shuffled(by_name, seed, one.point, attempt)]


def expand(
    configuration: Mapping[str, Any],
    scale: str,
    *,
    missing: Mapping[str, str] | None = None,
    site_client_options: Mapping[str, str] | None = None,
) -> Design:
    """Expand an experiment's configuration at a scale.

    `missing` maps a word of `requires` that the site lacks to the reason; variants that need it are skipped with that
    word. `site_client_options` (such as a rate ceiling) are part of each cell's identity, since they change it.
    Raises ConfigurationError where the configuration contradicts itself.
    """
    where = f"config/experiments/{configuration['name']}.yaml"
    if scale not in SCALES:
        raise ConfigurationError(f"no scale {scale!r}", next_step=f"use one of {', '.join(SCALES)}")
    at_scale = configuration["scales"][scale]
    missing = missing or {}
    factors = _factors_at(configuration, at_scale, where, scale)
    skipped: list[Skip] = []
    lacking = [word for word in configuration.get("requires", ()) if word in missing]
    skipped += [Skip(None, word, missing[word]) for word in lacking]
    variants: list[Variant] = []
    for variant in _variants(configuration, at_scale, site_client_options or {}, where):
        words = [word for word in variant.requires if word in missing]
        if words:
            skipped.append(Skip(variant.name, words[0], missing[words[0]]))
        elif not lacking:
            variants.append(variant)
    sizing = Sizing(
        target_seconds=float(at_scale["target_seconds"]),
        minimum_seconds=float(at_scale.get("minimum_seconds", 1.0)),
        minimum_operations=int(at_scale.get("minimum_operations", 64)),
    )
    options = {**configuration.get("options", {}), **at_scale.get("options", {})}
    sets = _sets(configuration, at_scale, factors, variants, options, sizing, where, scale)
    return Design(
        name=configuration["name"],
        scale=scale,
        blocks=int(at_scale["blocks"]),
        configuration=configuration,
        options=options,
        factors=factors,
        sizing=sizing,
        variants=tuple(variants),
        sets=tuple(sets),
        skipped=tuple(skipped),
    )


def _factors_at(
    configuration: Mapping[str, Any], at_scale: Mapping[str, Any], where: str, scale: str
) -> dict[str, tuple[Any, ...]]:
    declared = configuration["factors"]
    for name in [*configuration["workload_factors"], *configuration.get("hard_to_change", ())]:
        if name not in declared:
            raise ConfigurationError(f"{name!r} is not a factor", where=where, next_step=f"factors: {list(declared)}")
    x_factor = configuration.get("x_factor")
    if x_factor is not None and x_factor not in declared:
        raise ConfigurationError(f"x_factor {x_factor!r} is not a factor", where=where)
    factors = {name: tuple(levels) for name, levels in declared.items()}
    for name, levels in at_scale.get("factors", {}).items():
        _check_levels(name, levels, factors, where, f"scales.{scale}.factors")
        factors[name] = tuple(levels)
    return factors


def _check_levels(name: str, levels: Iterable[Any], factors: Mapping[str, tuple], where: str, key: str) -> None:
    if name not in factors:
        raise ConfigurationError(f"{key}: {name!r} is not a factor", where=where)
    unknown = [level for level in levels if level not in factors[name]]
    if unknown:
        raise ConfigurationError(
            f"{key}.{name}: {unknown} is not among the factor's levels {list(factors[name])}", where=where
        )


def _variants(
    configuration: Mapping[str, Any], at_scale: Mapping[str, Any], site_options: Mapping[str, str], where: str
) -> list[Variant]:
    raw = {variant["name"]: variant for variant in configuration["variants"]}
    if len(raw) != len(configuration["variants"]):
        raise ConfigurationError("two variants share a name", where=where)
    wanted = at_scale.get("variants", list(raw))
    for name in [*wanted, *at_scale.get("only", {})]:
        if name not in raw:
            raise ConfigurationError(f"{name!r} is not a variant", where=where, next_step=f"variants: {list(raw)}")
    if sum(bool(variant.get("reference")) for variant in raw.values()) > 1:
        raise ConfigurationError("more than one variant is the reference", where=where)
    geometry = configuration.get("image", {"size_bytes": 0, "object_size_bytes": 0, "features": []})
    variants = []
    for name in wanted:
        one = raw[name]
        owner = raw[_known(one.get("image_of", name), raw, f"{name}: image_of", where)]
        image = Image(
            size_bytes=int(at_scale.get("image_size_bytes", geometry["size_bytes"])),
            object_size_bytes=int(geometry["object_size_bytes"]),
            features=tuple(dict.fromkeys([*geometry["features"], *owner.get("features", ())])),
            mirroring=owner.get("mirroring"),
        )
        variants.append(
            Variant(
                name=name,
                label=one["label"],
                image_name=owner["name"],
                image=image,
                client_options={
                    **configuration.get("client_options", {}),
                    **one.get("client_options", {}),
                    **site_options,
                },
                levels=dict(one.get("levels", {})),
                reference=bool(one.get("reference")),
                control=bool(one.get("control")),
                requires=tuple(one.get("requires", ())),
                size_of=_known(one.get("size_of", name), raw, f"{name}: size_of", where),
            )
        )
    return variants


def _known(name: str, variants: Mapping[str, Any], key: str, where: str) -> str:
    if name not in variants:
        raise ConfigurationError(f"{key}: {name!r} is not a variant", where=where, next_step=f"one of {list(variants)}")
    return name


def _sets(
    configuration: Mapping[str, Any],
    at_scale: Mapping[str, Any],
    factors: Mapping[str, tuple[Any, ...]],
    variants: list[Variant],
    options: Mapping[str, Any],
    sizing: Sizing,
    where: str,
    scale: str,
) -> list[CellSet]:
    only = at_scale.get("only", {})
    for name, limits in only.items():
        for factor, levels in limits.items():
            # An `only` may name a level that this scale leaves out; it must be one the experiment knows.
            _check_levels(factor, levels, configuration["factors"], where, f"scales.{scale}.only.{name}")
    sets = []
    for combination in itertools.product(*factors.values()):
        levels = dict(zip(factors, combination, strict=True))
        point = "-".join(str(level) for level in combination)
        here = [v for v in variants if all(levels[f] in allowed for f, allowed in only.get(v.name, {}).items())]
        cells = tuple(_cell(configuration, point, levels, variant, options, sizing) for variant in here)
        if cells:
            sets.append(CellSet(point=point, levels=levels, cells=cells))
    return sets


def _cell(
    configuration: Mapping[str, Any],
    point: str,
    levels: Mapping[str, Any],
    variant: Variant,
    options: Mapping[str, Any],
    sizing: Sizing,
) -> Cell:
    all_levels = {**levels, **variant.levels}
    identity = {
        "tool": configuration["tool"],
        "protocol": configuration["protocol"],
        "levels": all_levels,
        "options": dict(options),
        "client_options": dict(variant.client_options),
        "variant": variant.name,
        "image": [
            variant.image.size_bytes,
            variant.image.object_size_bytes,
            sorted(variant.image.features),
            variant.image.mirroring,
        ],
        "sizing": [sizing.target_seconds, sizing.minimum_seconds, sizing.minimum_operations, variant.size_of],
        "snapshot_interval_seconds": (
            configuration.get("snapshot_interval_seconds") if variant.image.mirroring == "snapshot" else None
        ),
    }
    return Cell(cell_id=digest_of(identity), point=point, variant=variant, levels=all_levels)
