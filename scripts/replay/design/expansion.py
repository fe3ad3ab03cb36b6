"""Turns an experiment's configuration into its design, factors to cells, whole or at some levels alone. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.paths import did_you_mean
from replay.design.design import Cell, CellSet, Design, Image, Sizing, Skip, Variant, digest_of, within


def expand(
    configuration: Mapping[str, Any],
    scale: str,
    *,
    missing: Mapping[str, str] | None = None,
    site_client_options: Mapping[str, str] | None = None,
) -> Design:
    """Expand an experiment's configuration at a scale.

    `missing` maps a word of `requires` that the site lacks to the reason; variants that need it are skipped with that
    word. `site_client_options` (such as a limit of the rate) are part of each cell's identity, since they change it.
    Raises ConfigurationError if the configuration contradicts itself.
    """
    where = f"config/experiments/{configuration['name']}.yaml"
    if scale not in configuration["scales"]:
        raise ConfigurationError(
            f"this experiment has no scale {scale!r}",
            where=where,
            next_step=f"use one of {', '.join(configuration['scales'])}, or add scales.{scale}",
        )
    at_scale = configuration["scales"][scale]
    missing = missing or {}
    factors = _factors_at(configuration, at_scale, where, scale)
    lacking = [word for word in configuration.get("requires", ()) if word in missing]
    skipped = [Skip(None, word, missing[word]) for word in lacking]
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
    design = Design(
        name=configuration["name"],
        scale=scale,
        blocks=int(at_scale["blocks"]),
        configuration=configuration,
        options={**configuration.get("options", {}), **at_scale.get("options", {})},
        factors=factors,
        sizing=sizing,
        variants=tuple(variants),
        sets=(),
        skipped=tuple(skipped),
    )
    return replace(design, sets=_sets(design, at_scale.get("only", {}), where))


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
        raise ConfigurationError("two variants have the same name", where=where)
    wanted = at_scale.get("variants", list(raw))
    for name in [*wanted, *at_scale.get("only", {})]:
        if name not in raw:
            raise ConfigurationError(f"{name!r} is not a variant", where=where, next_step=f"variants: {list(raw)}")
    if sum(bool(variant.get("reference")) for variant in raw.values()) > 1:
        raise ConfigurationError("more than one variant is the reference", where=where)
    variants = []
    for name in wanted:
        variant = raw[name]
        owner = raw[_known(variant.get("image_of", name), raw, f"{name}: image_of", where)]
        if "image" in variant and (owner is not variant or "image" not in configuration):
            why = f"it uses the image of {owner['name']}" if owner is not variant else "the experiment has no image"
            raise ConfigurationError(f"{name}: image: {why}", where=where, next_step="leave out the variant's `image`")
        variants.append(
            Variant(
                name=name,
                label=variant["label"],
                image_name=owner["name"],
                image=_image(configuration, at_scale, owner),
                client_options={
                    **configuration.get("client_options", {}),
                    **variant.get("client_options", {}),
                    **site_options,
                },
                levels=dict(variant.get("levels", {})),
                reference=bool(variant.get("reference")),
                control=bool(variant.get("control")),
                requires=tuple(variant.get("requires", ())),
                size_of=_known(variant.get("size_of", name), raw, f"{name}: size_of", where),
            )
        )
    return variants


def _image(configuration: Mapping[str, Any], at_scale: Mapping[str, Any], owner: Mapping[str, Any]) -> Image:
    """Return the image of the variant that owns it: the experiment's, with what differs in the variant."""
    geometry = configuration.get("image", {"size_bytes": 0, "object_size_bytes": 0, "features": []})
    return Image(
        size_bytes=int(at_scale.get("image_size_bytes", geometry["size_bytes"])),
        object_size_bytes=int({**geometry, **owner.get("image", {})}["object_size_bytes"]),
        features=tuple(dict.fromkeys([*geometry["features"], *owner.get("features", ())])),
        mirroring=owner.get("mirroring"),
    )


def _known(name: str, variants: Mapping[str, Any], key: str, where: str) -> str:
    if name not in variants:
        raise ConfigurationError(f"{key}: {name!r} is not a variant", where=where, next_step=f"one of {list(variants)}")
    return name


def _sets(design: Design, only: Mapping[str, Any], where: str) -> tuple[CellSet, ...]:
    for name in only:
        for factor, levels in (pair for limits in _limits(only, name) for pair in limits.items()):
            # An `only` may name a level that this scale leaves out; it must be one the experiment knows.
            known = design.configuration["factors"]
            _check_levels(factor, levels, known, where, f"scales.{design.scale}.only.{name}")
    sets = []
    for combination in itertools.product(*design.factors.values()):
        levels = dict(zip(design.factors, combination, strict=True))
        point = "-".join(str(level) for level in combination)
        cells = tuple(
            _cell(design, point, levels, variant)
            for variant in design.variants
            if any(within(levels, limits) for limits in _limits(only, variant.name))
        )
        if cells:
            sets.append(CellSet(point=point, levels=levels, cells=cells))
    return tuple(sets)


def _limits(only: Mapping[str, Any], variant: str) -> list[Mapping[str, Any]]:
    """Return a variant's limits, each of factor to levels. A point has to be within at least one of them."""
    limits = only.get(variant, {})
    return [limits] if isinstance(limits, Mapping) else list(limits)


def _cell(design: Design, point: str, levels: Mapping[str, Any], variant: Variant) -> Cell:
    configuration, sizing, image = design.configuration, design.sizing, variant.image
    all_levels = {**levels, **variant.levels}
    identity = {
        "tool": configuration["tool"],
        "protocol": configuration["protocol"],
        "levels": all_levels,
        "options": dict(design.options),
        "client_options": dict(variant.client_options),
        "variant": variant.name,
        "image": [image.size_bytes, image.object_size_bytes, sorted(image.features), image.mirroring],
        "sizing": [sizing.target_seconds, sizing.minimum_seconds, sizing.minimum_operations, variant.size_of],
        "snapshot_interval_seconds": (
            configuration.get("snapshot_interval_seconds") if image.mirroring == "snapshot" else None
        ),
    }
    return Cell(cell_id=digest_of(identity), point=point, variant=variant, levels=all_levels)


def narrowed(design: Design, wanted: Iterable[str]) -> Design:
    """Return the design with only the sets at the wanted levels, each `FACTOR=LEVEL`; the others are left out.

    Levels of one factor are alternatives; several factors all have to fit. Without any, the design stays as it is.
    Raises ConfigurationError if there is no such factor or level, or no set at these levels.
    """
    chosen = _levels(design, wanted)
    if not chosen or not design.sets:
        return design
    kept = tuple(cell_set for cell_set in design.sets if within(cell_set.levels, chosen))
    if not kept:
        raise ConfigurationError(f"{design.name} has no set at these levels", where=_option(wanted))
    return replace(design, sets=kept, left_out=tuple(cell_set for cell_set in design.sets if cell_set not in kept))


def _levels(design: Design, wanted: Iterable[str]) -> dict[str, list[Any]]:
    """Return the wanted levels by factor, as the design writes them."""
    chosen: dict[str, list[Any]] = {}
    for text in wanted:
        factor, _, level = text.partition("=")
        if factor not in design.factors:
            raise ConfigurationError(
                f"{design.name} has no factor {factor!r}; its factors are {', '.join(design.factors)}",
                where=_option([text]),
                next_step=did_you_mean(factor, list(design.factors)),
            )
        known = {str(known_level): known_level for known_level in design.factors[factor]}
        if level not in known:
            raise ConfigurationError(
                f"{design.name} has no level {level!r} of {factor} at scale {design.scale}; it has {', '.join(known)}",
                where=_option([text]),
                next_step=f"add it to the factor, or to the scale, in config/experiments/{design.name}.yaml",
            )
        chosen.setdefault(factor, []).append(known[level])
    return chosen


def _option(wanted: Iterable[str]) -> str:
    return " ".join(f"--only {text}" for text in wanted)
