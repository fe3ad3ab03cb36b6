"""What a procedure declares: its tools, its factors, its options with their units, and the programs that it starts.

The declarations are data, so that modules below the procedures can read them: experiment files are checked against them
before a measurement, preflight looks for the programs, and docs/adding-an-experiment.md is generated from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from replay.base.errors import ConfigurationError
from replay.base.invocation import did_you_mean

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
        return {one.name: one for one in self.options}[name]

    def levels(self) -> list[str]:
        """Return the names that a factor can have."""
        return [*(one.name for one in self.factors), *(one.name for one in self.options if one.varies)]


def check_declared(configuration: Mapping[str, Any], needs: Needs, where: Callable[..., str]) -> None:
    """Refuse keys that the experiment's protocol does not know, and missing ones.

    `where(*keys)` returns a key's place in the file. Raises ConfigurationError.
    """

    def refuse(what: str, *path: str | int, next_step: str = "") -> NoReturn:
        raise ConfigurationError(what, where=where(*path), next_step=next_step)

    protocol, tool = configuration["protocol"], str(configuration["tool"])
    if needs.tools and tool.replace("_", "-") not in needs.tools:
        refuse(f"{protocol} runs {' or '.join(needs.tools)}, not {tool}", "tool", next_step="change `tool`")
    _check_options(configuration, needs, refuse)
    _check_factors(configuration, needs, refuse)
    for word, refused, sentence in (("never", True, "has no"), ("always", False, "needs")):
        wrong = [one["name"] for one in configuration["variants"] if bool(one.get("mirroring")) is refused]
        if needs.mirroring == word and wrong:
            refuse(f"{protocol} {sentence} mirrored variants: {', '.join(wrong)}", "variants")


def _check_options(configuration: Mapping[str, Any], needs: Needs, refuse: Callable[..., NoReturn]) -> None:
    known, varied = {one.name: one for one in needs.options}, _levels_by_name(configuration)
    given = {("options",): configuration.get("options", {})}
    given |= {("scales", name, "options"): one.get("options", {}) for name, one in configuration["scales"].items()}
    for path, name, value in [(path, *item) for path, options in given.items() for item in options.items()]:
        key = ".".join((*path, name))
        if name not in known:
            what = f"{configuration['protocol']} has no such option; it has {', '.join(known) or 'none'}"
            refuse(f"{key}: {what}", *path, name, next_step=did_you_mean(name, list(known)))
        if not known[name].takes(value):
            refuse(f"{key}: expected {known[name].expected}, found {value!r}", *path, name)
    for one in needs.options:
        if one.default is REQUIRED and one.name not in given["options",] and not (one.varies and one.name in varied):
            refuse(f"options.{one.name}: this option is missing: {one.meaning}", "options")
        for path, level in varied.get(one.name, ()) if one.varies else ():
            if not one.takes(level):
                refuse(f"{'.'.join(map(str, path))}: expected {one.expected}, found {level!r}", *path)


def _check_factors(configuration: Mapping[str, Any], needs: Needs, refuse: Callable[..., NoReturn]) -> None:
    protocol, known, varied = configuration["protocol"], needs.levels(), _levels_by_name(configuration)
    for name, found in varied.items():
        if name not in known:
            path = found[0][0]
            what = f"{protocol} does not use this factor; it uses {', '.join(known)}"
            refuse(f"{'.'.join(map(str, path))}: {what}", *path, next_step=did_you_mean(name, known))
    for one in needs.factors:
        lacks = [each["name"] for each in configuration["variants"] if one.name not in each.get("levels", {})]
        if one.required and one.name not in configuration["factors"] and lacks:
            advice = f"add the factor, or set its level in each variant; it is missing in: {', '.join(lacks)}"
            refuse(f"{protocol} needs the factor `{one.name}`: {one.meaning}", "factors", next_step=advice)
        for path, level in varied.get(one.name, ()):
            if one.words and level not in one.words:
                words = [str(word) for word in one.words]
                what = f"{level!r} is not one of {', '.join(words)}"
                refuse(f"{'.'.join(map(str, path))}: {what}", *path, next_step=did_you_mean(str(level), words))


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
