"""What a procedure declares: its tools, factors and options with their units, and the programs that it starts.

The declarations are data, so that modules below the procedures can read them: experiment files are checked against them
before a measurement, preflight looks for the programs, and docs/adding-an-experiment.md is generated from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from replay.base.did_you_mean import did_you_mean
from replay.base.errors import ConfigurationError

REQUIRED: Any = object()
"""The default of an option that every experiment must set."""

WHOLE, NUMBER, TEXT, FLAG = "a whole number", "a number", "text", "true or false"


@dataclass(frozen=True)
class Option:
    """A key of an experiment's `options`. `varies`: it can also be a factor, and each cell then uses its own level."""

    name: str
    kind: str
    unit: str
    meaning: str
    default: Any = REQUIRED
    varies: bool = False
    can_be_zero: bool = False

    @property
    def expected(self) -> str:
        """What a value must be, in words."""
        least = "" if self.kind not in (WHOLE, NUMBER) else " of at least 0" if self.can_be_zero else " above 0"
        return f"{self.kind}{least}"

    def takes(self, value: Any) -> bool:
        """Return whether a value is of this option's kind."""
        if self.kind == FLAG or isinstance(value, bool):
            return self.kind == FLAG and isinstance(value, bool)
        if self.kind == TEXT:
            return isinstance(value, str)
        if not isinstance(value, int if self.kind == WHOLE else int | float):
            return False
        return value >= 0 if self.can_be_zero else value > 0


@dataclass(frozen=True)
class Factor:
    """A level of cells, from a factor or from their variant. `words`, if any, are the only allowed levels."""

    name: str
    meaning: str
    words: tuple[str | float, ...] = ()
    required: bool = False


@dataclass(frozen=True)
class Needs:
    """What a procedure needs from an experiment and from this machine.

    `tools`: what the experiment's `tool` may be; empty means any benchmark tool. `mirroring`: whether variants
    are mirrored: never, may be, always. `programs_elsewhere` are needed where clients run on other hosts.
    """

    tools: tuple[str, ...] = ()
    factors: tuple[Factor, ...] = ()
    options: tuple[Option, ...] = ()
    programs: tuple[str, ...] = ()
    programs_elsewhere: tuple[str, ...] = ()
    mirroring: str = "never"
    image_per_cell: bool = False

    def option(self, name: str) -> Option:
        """Return the option of that name. Raises KeyError when it is not declared."""
        return {one.name: one for one in self.options}[name]

    def levels(self) -> list[str]:
        """Return the names that a factor can have."""
        return [*(one.name for one in self.factors), *(one.name for one in self.options if one.varies)]


def check_declared(configuration: Mapping[str, Any], needs: Needs, where: Callable[..., str]) -> None:
    """Refuse keys that the experiment's protocol does not know, and missing ones.

    `where(*keys)` returns a key's place in the file. Raises ConfigurationError.
    """
    protocol, tool = configuration["protocol"], str(configuration["tool"])
    if needs.tools and tool.replace("_", "-") not in needs.tools:
        raise ConfigurationError(
            f"{protocol} runs {' or '.join(needs.tools)}, not {tool}", where=where("tool"), next_step="change `tool`"
        )
    _check_options(configuration, needs, where)
    _check_factors(configuration, needs, where)
    mirrored = {one["name"]: bool(one.get("mirroring")) for one in configuration["variants"]}
    if needs.mirroring == "never" and any(mirrored.values()):
        names = ", ".join(name for name, is_mirrored in mirrored.items() if is_mirrored)
        raise ConfigurationError(f"{protocol} has no mirrored variants: {names}", where=where("variants"))
    if needs.mirroring == "always" and not all(mirrored.values()):
        names = ", ".join(name for name, is_mirrored in mirrored.items() if not is_mirrored)
        raise ConfigurationError(f"{protocol} needs mirrored variants: {names}", where=where("variants"))


def _check_options(configuration: Mapping[str, Any], needs: Needs, where: Callable[..., str]) -> None:
    known = [one.name for one in needs.options]
    given = {("options",): configuration.get("options", {})}
    given |= {("scales", name, "options"): one.get("options", {}) for name, one in configuration["scales"].items()}
    for path, options in given.items():
        for name, value in options.items():
            key = ".".join((*path, name))
            if name not in known:
                raise ConfigurationError(
                    f"{key}: {configuration['protocol']} has no such option; it has {', '.join(known) or 'none'}",
                    where=where(*path, name),
                    next_step=did_you_mean(name, known),
                )
            if not needs.option(name).takes(value):
                raise ConfigurationError(
                    f"{key}: expected {needs.option(name).expected}, found {value!r}", where=where(*path, name)
                )
    varied = _levels_by_name(configuration)
    for one in needs.options:
        if one.default is REQUIRED and one.name not in given["options",] and not (one.varies and one.name in varied):
            raise ConfigurationError(
                f"options.{one.name}: this option is missing: {one.meaning}", where=where("options")
            )
        for path, level in varied.get(one.name, ()) if one.varies else ():
            if not one.takes(level):
                raise ConfigurationError(
                    f"{'.'.join(map(str, path))}: expected {one.expected}, found {level!r}", where=where(*path)
                )


def _check_factors(configuration: Mapping[str, Any], needs: Needs, where: Callable[..., str]) -> None:
    known, varied = needs.levels(), _levels_by_name(configuration)
    for name, found in varied.items():
        if name not in known:
            path = found[0][0]
            raise ConfigurationError(
                f"{'.'.join(map(str, path))}: {configuration['protocol']} does not use this factor; "
                f"it uses {', '.join(known)}",
                where=where(*path),
                next_step=did_you_mean(name, known),
            )
    for one in needs.factors:
        variants = configuration["variants"]
        if one.required and one.name not in configuration["factors"]:
            lacks = [each["name"] for each in variants if one.name not in each.get("levels", {})]
            if lacks:
                raise ConfigurationError(
                    f"{configuration['protocol']} needs the factor `{one.name}`: {one.meaning}",
                    where=where("factors"),
                    next_step=f"add the factor, or set its level in each variant; it is missing in: {', '.join(lacks)}",
                )
        for path, level in varied.get(one.name, ()):
            if one.words and level not in one.words:
                raise ConfigurationError(
                    f"{'.'.join(map(str, path))}: {level!r} is not one of {', '.join(map(str, one.words))}",
                    where=where(*path),
                    next_step=did_you_mean(str(level), [str(word) for word in one.words]),
                )


def _levels_by_name(configuration: Mapping[str, Any]) -> dict[str, list[tuple[tuple[str | int, ...], Any]]]:
    """Return every level in the file, with its key path, by the factor's name."""
    found: dict[str, list[tuple[tuple[str | int, ...], Any]]] = {}

    def add(name: str, path: tuple[str | int, ...], levels: Iterable[Any]) -> None:
        found.setdefault(name, []).extend((path, level) for level in levels)

    for name, levels in configuration["factors"].items():
        add(name, ("factors", name), levels)
    for number, variant in enumerate(configuration["variants"]):
        for name, level in variant.get("levels", {}).items():
            add(name, ("variants", number, "levels", name), [level])
    return found
