"""Protocols by name, and what each declares: its tools, its factors, its options with their units, its programs.

A module in replay.protocols with a class `PROTOCOL` is the protocol of its name; a few are in the module of another.
The declarations are data, so that rooms below the protocols can read them: experiment files are checked against them
before a measurement, preflight looks for the programs, and docs/adding-an-experiment.md lists them.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

from replay.base.errors import ConfigurationError
from replay.base.paths import did_you_mean
from replay.design import link

PACKAGE = "replay.protocols"
REQUIRED: Any = object()
"""The default of an option that every experiment must set."""

WHOLE, NUMBER, TEXT, FLAG = "a whole number", "a number", "text", "true or false"


class Value:
    """What an option or a level may be."""

    kind: str
    can_be_zero: bool

    @property
    def expected(self) -> str:
        least = "" if self.kind not in (WHOLE, NUMBER) else " of at least 0" if self.can_be_zero else " above 0"
        return f"{self.kind}{least}"

    def takes(self, value: Any) -> bool:
        """Return whether a value is of this kind."""
        if self.kind == FLAG or isinstance(value, bool):
            return self.kind == FLAG and isinstance(value, bool)
        if self.kind == TEXT:
            return isinstance(value, str)
        if not isinstance(value, int if self.kind == WHOLE else int | float):
            return False
        return value >= 0 if self.can_be_zero else value > 0


@dataclass(frozen=True)
class Option(Value):
    """A key of an experiment's `options`. `varies`: it can also be a factor, and each cell then uses its own level."""

    name: str
    kind: str
    unit: str
    meaning: str
    default: Any = REQUIRED
    varies: bool = False
    can_be_zero: bool = False


@dataclass(frozen=True)
class Factor(Value):
    """A level of cells, from a factor or from their variant. `words`, if any, are the only allowed levels.

    Without words, levels are numbers of that `kind`, in the unit that the name ends in. `of_variants`: it comes from
    variants alone, because it decides what is made for each of them.
    """

    name: str
    meaning: str
    words: tuple[str | float, ...] = ()
    required: bool = False
    of_variants: bool = False
    kind: str = WHOLE
    can_be_zero: bool = False


@dataclass(frozen=True)
class Needs:
    """What a protocol needs from an experiment and from this machine.

    `tools`: what the experiment's `tool` may be; empty means any benchmark tool. `mirroring`: whether variants
    are mirrored: never, may be, always. `programs_elsewhere` are needed where clients run on other hosts.
    `osd_counters`: whether it reads the counters of OSDs, which not every user may: never, may, must.
    """

    tools: tuple[str, ...] = ()
    factors: tuple[Factor, ...] = ()
    options: tuple[Option, ...] = ()
    programs: tuple[str, ...] = ()
    programs_elsewhere: tuple[str, ...] = ()
    mirroring: str = "never"
    osd_counters: str = "never"
    image_per_cell: bool = False

    def option(self, name: str) -> Option:
        """Return the option of that name. Raises KeyError when it is not declared."""
        return {option.name: option for option in self.options}[name]

    def levels(self) -> list[str]:
        """Return the names that a factor can have."""
        return [*(factor.name for factor in self.factors), *(option.name for option in self.options if option.varies)]


@cache
def protocol_names() -> tuple[str, ...]:
    """Return the names of all protocols, without importing their modules."""
    package = import_module(PACKAGE)
    modules = (module.name for module in pkgutil.iter_modules(package.__path__) if not module.ispkg)
    return tuple(sorted({*modules, *package.ELSEWHERE}))


def protocol_class(name: str) -> Any:
    """Return the class of the protocol of that name. Raises ConfigurationError if there is none."""
    if name not in protocol_names():
        raise ConfigurationError(f"no protocol {name!r}", next_step=f"protocols: {', '.join(protocol_names())}")
    # Imported here, so that a broken or slow protocol does not affect the others.
    place = import_module(PACKAGE).ELSEWHERE.get(name, f"{name}:PROTOCOL")
    return pkgutil.resolve_name(f"{PACKAGE}.{place}")


def protocol_for(bench: Any, design: Any) -> Any:
    return protocol_class(design.configuration["protocol"])(bench, design)


def needs_of(name: str) -> Needs:
    return protocol_class(name).needs


def needs_for(configuration: Mapping[str, Any]) -> Needs:
    """Return what an experiment's protocol declares; if it runs any tool, with the levels of the experiment's tool."""
    needs = needs_of(configuration["protocol"])
    tool = None if needs.tools else import_module("replay.tools").find_reader(str(configuration["tool"]))
    return replace(needs, factors=(*needs.factors, *getattr(tool, "own_levels", ())))


def lacking(name: str, site: Any) -> dict[str, str]:
    """Return what the protocol of that name needs and the site lacks: a word of `requires` to the reason."""
    return protocol_class(name).lacking(site)


def check_experiment(configuration: Mapping[str, Any], where: Callable[..., str] | None = None) -> None:
    """Refuse options, factors and levels that the experiment's protocol does not know, and missing ones.

    `where(*keys)` returns a key's place in the file; without it errors only name the file. Raises ConfigurationError.
    """
    file = f"config/experiments/{configuration['name']}.yaml"
    needs = needs_for(configuration)

    def refuse(what: str, *path: str | int, next_step: str = "") -> NoReturn:
        raise ConfigurationError(what, where=where(*path) if where else file, next_step=next_step)

    protocol, tool = configuration["protocol"], str(configuration["tool"])
    if needs.tools and tool.replace("_", "-") not in needs.tools:
        refuse(f"{protocol} runs {' or '.join(needs.tools)}, not {tool}", "tool", next_step="change `tool`")
    _check_options(configuration, needs, refuse)
    _check_factors(configuration, needs, refuse)
    for word, refused, sentence in (("never", True, "has no"), ("always", False, "needs")):
        wrong = [variant["name"] for variant in configuration["variants"] if bool(variant.get("mirroring")) is refused]
        if needs.mirroring == word and wrong:
            refuse(f"{protocol} {sentence} mirrored variants: {', '.join(wrong)}", "variants")


def _check_options(configuration: Mapping[str, Any], needs: Needs, refuse: Callable[..., NoReturn]) -> None:
    declared, levels_of = {option.name: option for option in needs.options}, _levels_by_name(configuration)
    variants = configuration["variants"]
    given = {("options",): configuration.get("options", {})}
    given |= {("scales", name, "options"): scale.get("options", {}) for name, scale in configuration["scales"].items()}
    for path, name, value in [(path, *item) for path, options in given.items() for item in options.items()]:
        key = ".".join((*path, name))
        if name not in declared:
            what = f"{configuration['protocol']} has no such option; it has {', '.join(declared) or 'none'}"
            refuse(f"{key}: {what}", *path, name, next_step=did_you_mean(name, list(declared)))
        if not declared[name].takes(value):
            refuse(f"{key}: expected {declared[name].expected}, found {value!r}", *path, name)
    for name, option in declared.items():
        is_level = name in configuration["factors"] or all(name in variant.get("levels", {}) for variant in variants)
        if option.default is REQUIRED and name not in given["options",] and not (option.varies and is_level):
            advice = "set it, or make it a level of every variant" if option.varies else ""
            refuse(f"options.{name}: this option is missing: {option.meaning}", "options", next_step=advice)
        for path, level in levels_of.get(name, ()) if option.varies else ():
            if not option.takes(level):
                refuse(f"{'.'.join(map(str, path))}: expected {option.expected}, found {level!r}", *path)


def _check_factors(configuration: Mapping[str, Any], needs: Needs, refuse: Callable[..., NoReturn]) -> None:
    protocol, levels_of = configuration["protocol"], _levels_by_name(configuration)
    known = [*needs.levels(), *link.FACTORS]
    for name, levels in levels_of.items():
        if name not in known:
            path = levels[0][0]
            what = f"{protocol} does not use this factor; it uses {', '.join(known)}"
            refuse(f"{'.'.join(map(str, path))}: {what}", *path, next_step=did_you_mean(name, known))
    for factor in needs.factors:
        without = [
            variant["name"] for variant in configuration["variants"] if factor.name not in variant.get("levels", {})
        ]
        if factor.of_variants and factor.name in configuration["factors"]:
            what = f"factors.{factor.name}: {protocol} takes this level from variants only"
            refuse(what, "factors", factor.name, next_step="set it in each variant's `levels`")
        if factor.required and factor.name not in configuration["factors"] and without:
            how = "set its level" if factor.of_variants else "add the factor, or set its level"
            advice = f"{how} in each variant; it is missing in: {', '.join(without)}"
            refuse(f"{protocol} needs the factor `{factor.name}`: {factor.meaning}", "factors", next_step=advice)
        for path, level in levels_of.get(factor.name, ()):
            place = ".".join(map(str, path))
            if factor.words and level not in factor.words:
                words = [str(word) for word in factor.words]
                what = f"{level!r} is not one of {', '.join(words)}"
                refuse(f"{place}: {what}", *path, next_step=did_you_mean(str(level), words))
            if not factor.words and not factor.takes(level):
                advice = "write it without a unit, in full: 4096, not 4K; a decimal has a point: 0.5"
                refuse(f"{place}: expected {factor.expected}, found {level!r}", *path, next_step=advice)
            if factor.name == "io_type" and str(level).startswith("rand") and _has_pattern(configuration, path):
                advice = f"leave out io_pattern, or write {str(level).removeprefix('rand')} with `io_pattern: [rand]`"
                refuse(f"{place}: {level!r} says the pattern itself", *path, next_step=advice)
    link.check_link(configuration, levels_of, refuse)


def _has_pattern(configuration: Mapping[str, Any], path: tuple[str | int, ...]) -> bool:
    """Return whether a cell that has the `io_type` at this place also has an `io_pattern`."""
    variants = [variant.get("levels", {}) for variant in configuration["variants"]]
    is_factor = path[0] == "factors"
    here = [levels for levels in variants if "io_type" not in levels] if is_factor else [variants[int(path[1])]]
    return any("io_pattern" in {**configuration["factors"], **levels} for levels in here)


def _levels_by_name(configuration: Mapping[str, Any]) -> dict[str, list[tuple[tuple[str | int, ...], Any]]]:
    """Return every level in the file, with its key path, by the factor's name."""
    levels_of = {
        name: [(("factors", name), level) for level in levels] for name, levels in configuration["factors"].items()
    }
    for number, variant in enumerate(configuration["variants"]):
        for name, level in variant.get("levels", {}).items():
            levels_of.setdefault(name, []).append((("variants", number, "levels", name), level))
    return levels_of
