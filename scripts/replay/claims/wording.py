"""The plain sentences of `config/claims.yaml`: templates whose placeholders stand for a data set's figures. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from replay.base.errors import ConfigurationError
from replay.claims.model import HELD, INCONCLUSIVE, REFUTED, Control, Plain, Wording
from replay.claims.table import PLACEHOLDER

#: What a template may name, in braces.
OF_A_CLAIM = ("estimate", "interval")
OF_ANOTHER_DATA_SET = ("data_set", "estimate", "interval", "verdict")
OF_AN_ABSENT_CLAIM = ("data_set",)
OF_A_REASON = ("reason",)
OF_A_CONTROL = ("intervals", "excluding_one", "geometric_mean")


def plain_of(raw: Mapping[str, Any], conditions: Collection[str], where: str) -> Plain:
    """Return a claim's plain words. `conditions` are the names of its ratios, `where` is file and line.

    Raises ConfigurationError for an unknown condition or placeholder.
    """
    condition = raw.get("condition", next(iter(conditions), None))
    if condition not in conditions:
        raise ConfigurationError(
            f"plain: this claim has no ratio {condition or 'at all'}",
            where=where,
            next_step=f"ratios: {', '.join(conditions) or 'none, so there is no figure for a plain sentence'}",
        )
    follows = {verdict: raw[verdict] for verdict in (HELD, REFUTED, INCONCLUSIVE)}
    for name, text in {"finding": raw["finding"], **follows}.items():
        _check(f"plain.{name}", text, OF_A_CLAIM, where)
    return Plain(condition, raw["shown"], raw["finding"], follows)


def wording_of(raw: Mapping[str, Any], experiments: Collection[str], where: str) -> Wording:
    """Return the wording that claims share. Raises ConfigurationError for an unknown experiment or placeholder."""
    for name, allowed in (
        ("against", OF_ANOTHER_DATA_SET),
        ("not_in_other", OF_AN_ABSENT_CLAIM),
        ("not_testable", OF_A_REASON),
        ("measured_in_part", ()),
    ):
        _check(f"plain.{name}", raw[name], allowed, where)
    controls = {}
    for experiment, one in raw.get("controls", {}).items():
        if experiment not in experiments:
            raise ConfigurationError(
                f"plain.controls: there is no experiment {experiment!r}",
                where=where,
                next_step=f"experiments: {', '.join(experiments)}",
            )
        for name, text in one.items():
            _check(f"plain.controls.{experiment}.{name}", text, OF_A_CONTROL, where)
        controls[experiment] = Control(**one)
    return Wording(**{**raw, "controls": controls})


def _check(name: str, text: str, allowed: Collection[str], where: str) -> None:
    for placeholder in PLACEHOLDER.findall(text):
        if placeholder not in allowed:
            raise ConfigurationError(
                f"{name}: there is no figure {{{placeholder}}}",
                where=where,
                next_step=f"one of {', '.join(f'{{{one}}}' for one in allowed)}",
            )
