"""Parses and applies predicates on a cell's facts, such as `idle_cpu_fraction >= 0.25` or `limiter != cpu`. Pure."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from replay.base.errors import ConfigurationError
from replay.base.invocation import suggestion
from replay.derive.facts import FACTS, Fact, FactType

_COMPARISONS: Mapping[str, Callable[[float | str, float | str], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "=": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
_WORDS = {">=": "at least", "<=": "at most", "!=": "anything but", "=": "", ">": "more than", "<": "less than"}
#: Which comparisons a type allows: words have no order, and two measured fractions are never equal.
_OF_WORDS = ("=", "!=")
_OF_COUNTS = tuple(_COMPARISONS)
_OF_MEASURES = (">=", "<=", ">", "<")
_FORM = re.compile(r"\s*([a-z0-9_]+)\s*(>=|<=|!=|=|>|<)\s*(\S+)\s*")
_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,4})?", re.ASCII)


@dataclass(frozen=True)
class Predicate:
    """A comparison of one fact with a value, in the fact's own unit."""

    fact: Fact
    comparison: str
    value: float | str

    def holds(self, value: float | str) -> bool:
        """Return whether a value of the fact meets the predicate."""
        return _COMPARISONS[self.comparison](value, self.value)

    def text(self) -> str:
        """Return the predicate as config/claims.yaml writes it."""
        value = self.value
        if not isinstance(value, str):
            value = str(int(value)) if value.is_integer() else repr(value)
        return f"{self.fact.name} {self.comparison} {value}"

    def in_words(self) -> str:
        """Return what the fact must be, for people, such as `at least 25%`."""
        return f"{_WORDS[self.comparison]} {_shown(self.fact, self.value, 3)}".strip()

    def found_in_words(self, found: float | str) -> str:
        """Return a value that was found, with enough digits to tell it from the required value."""
        asked = _shown(self.fact, self.value, 3)
        shown = [_shown(self.fact, found, digits) for digits in range(3, 16)]
        return next((text for text in shown if text != asked), shown[-1]) if found != self.value else asked


def parse_predicate(text: str, where: str) -> Predicate:
    """Return the predicate that `text` states. Raises ConfigurationError that names `where` and the mistake."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise ConfigurationError(
            f"{text!r} is not a predicate",
            where=where,
            next_step="write FACT COMPARISON VALUE, for example: idle_cpu_fraction >= 0.25",
        )
    name, comparison, value = match.groups()
    if name not in FACTS:
        raise ConfigurationError(
            f"{text!r}: there is no fact {name!r}", where=where, next_step=suggestion(name, list(FACTS))
        )
    fact = FACTS[name]
    allowed = _allowed(fact.type)
    if comparison not in allowed:
        raise ConfigurationError(
            f"{text!r}: {comparison} does not compare a {fact.type.value}",
            where=where,
            next_step=f"use one of {' '.join(allowed)}",
        )
    return Predicate(fact, comparison, _value(fact, value, text, where))


def _allowed(kind: FactType) -> tuple[str, ...]:
    if kind is FactType.WORD:
        return _OF_WORDS
    return _OF_COUNTS if kind is FactType.COUNT else _OF_MEASURES


def _value(fact: Fact, value: str, text: str, where: str) -> float | str:
    if fact.type is FactType.WORD:
        if value not in fact.words:
            raise ConfigurationError(
                f"{text!r}: {fact.name} is never {value!r}", where=where, next_step=f"one of {', '.join(fact.words)}"
            )
        return value
    number = float(value) if _NUMBER.fullmatch(value) else None
    if number is None or (fact.type is FactType.COUNT and not number.is_integer()):
        what = "a whole number" if fact.type is FactType.COUNT else "a number of 0 or more, such as 0.25"
        raise ConfigurationError(f"{text!r}: {value!r} is not {what}", where=where, next_step=f"write {what}")
    if fact.type is FactType.FRACTION and number > 1:
        raise ConfigurationError(f"{text!r}: a fraction is at most 1", where=where, next_step="0.25 is 25 per cent")
    return number


def _shown(fact: Fact, value: float | str, digits: int) -> str:
    if isinstance(value, str):
        return value
    if fact.type is FactType.FRACTION:
        return f"{100 * value:.{digits}g}%"
    return f"{value:.{digits}g} s" if fact.type is FactType.SECONDS else f"{value:.{digits}g}"
