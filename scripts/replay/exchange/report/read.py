"""Reads a data set for its report: verified as for comparing, and each experiment as the table of its runs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from replay.base.errors import EvidenceError
from replay.base.invocation import replay_command
from replay.base.paths import level_text
from replay.claims.datapackage import DATAPACKAGE, differences
from replay.derive.part import LINES
from replay.exchange.sides import IMPORTED, Side, read_side

#: The columns that hold texts, whatever these look like.
_TEXTS = dict.fromkeys(("experiment", "cell", "point", "variant", "label", "limiter", "host", "series"), str)


@dataclass(frozen=True)
class Measured:
    """An experiment: its entry in the manifest, its runs, its paired ratios, and if imported its lines over time.

    `runs` are the rows of tidy.csv that aggregates use. `ratios` has a row for each point of its charts of ratios, with
    the columns `chart, series, x, ratio, low, high, n`; what does not exist is NaN. `lines` has a row for each moment
    of its charts over time, with the columns `chart, series, x, y, low, high, n`.
    """

    name: str
    entry: Mapping[str, Any]
    runs: pd.DataFrame
    ratios: pd.DataFrame
    lines: pd.DataFrame

    def points(self) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
        """Yield each combination of the factors' levels that has runs, in the design's order, with its runs."""
        factors = self.entry["factors"]
        for levels in itertools.product(*factors.values()):
            runs = self.runs
            for factor, level in zip(factors, levels, strict=True):
                runs = runs[runs[factor] == level]
            if not runs.empty:
                yield dict(zip(factors, levels, strict=True)), runs

    def by_variant(self, runs: pd.DataFrame) -> Iterator[tuple[Mapping[str, Any], pd.DataFrame]]:
        """Yield each variant that has some of these runs, in the design's order, with its runs; no control."""
        for variant in self.entry["variants"]:
            of_variant = runs[runs["variant"] == variant["name"]]
            if not of_variant.empty and not variant.get("control"):
                yield variant, of_variant

    @property
    def reference(self) -> str:
        """The label of the variant with which the others are compared; "" if there is none."""
        return next((str(one["label"]) for one in self.entry["variants"] if one.get("reference")), "")

    def ratio(self, column: str, levels: Mapping[str, Any], label: str) -> pd.Series | None:
        """Return a variant's ratio of a column at these levels, as its chart has it; None if there is none."""
        for name, chart in self.entry["charts"].items():
            place = {**chart["workload"], chart["x"].get("factor"): None}
            if chart.get("column") != column or chart["y"]["unit"] != "ratio" or not place.keys() <= levels.keys():
                continue
            if all(levels[factor] == level for factor, level in chart["workload"].items()):
                at = level_text(levels[chart["x"]["factor"]])
                rows = self.ratios[(self.ratios["chart"] == name) & (self.ratios["series"] == label)]
                rows = rows[(rows["x"] == at) & rows["ratio"].notna()]
                return None if rows.empty else rows.iloc[0]
        return None


@dataclass(frozen=True)
class DataSet:
    """A data set: as `replay compare` reads it, its experiments that have runs, and its claims by id."""

    side: Side
    experiments: tuple[Measured, ...]
    claims: Mapping[str, Mapping[str, Any]]

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What the manifest says."""
        return self.side.manifest

    def of(self, *protocols: str) -> list[Measured]:
        """Return the experiments of these protocols, those of the first protocol first."""
        return [one for protocol in protocols for one in self.experiments if one.entry["protocol"] == protocol]

    def to_measure(self, *experiments: str) -> str:
        """Return the command that measures experiments on the site of this data set."""
        chosen = [word for name in experiments for word in ("--experiment", name)]
        return " ".join(["replay measure --site", str(self.manifest.get("site") or "NAME"), *chosen])


def read_data_set(benchmarks: Path, name: str) -> DataSet:
    """Return a data set.

    Raises EvidenceError if it is missing, not derived, not readable, or if its evidence or a derived file is altered.
    """
    side = read_side(benchmarks, name)
    folder = benchmarks / name
    if (folder / DATAPACKAGE).exists() and (lines := differences(folder)):
        raise EvidenceError(f"{lines[0]}: it is not what {DATAPACKAGE} says", next_step=_derive_again(name))
    try:
        found = tuple(_measured(folder, one, side.manifest["experiments"][one]) for one in side.experiments)
        claims = folder / "claims.json"
        return DataSet(side, found, json.loads(claims.read_bytes())["claims"] if claims.exists() else {})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EvidenceError(
            f"cannot be reported: {type(error).__name__}: {error}", where=folder, next_step=_derive_again(name)
        ) from error


def _derive_again(name: str) -> str:
    return f"derive it again: {replay_command('derive', '--data', name, '--force')}"


def _measured(folder: Path, name: str, entry: Mapping[str, Any]) -> Measured:
    runs = _table(folder / name / "tidy.csv")
    charts = {
        key: chart
        for key, chart in entry["charts"].items()
        if chart["y"]["unit"] == "ratio" and chart["kind"] == "wide" and chart.get("companions", {}).get("spread")
    }
    ratios = [_ratios(folder, chart).assign(chart=key) for key, chart in charts.items()]
    lines = [
        _table(folder / chart["path"]).assign(chart=key)
        for key, chart in entry["charts"].items()
        if entry["protocol"] == IMPORTED and chart.get("runs") == LINES
    ]
    return Measured(name, entry, runs[runs["used"] == 1], _together(ratios, "ratio"), _together(lines, "y"))


def _together(tables: list[pd.DataFrame], value: str) -> pd.DataFrame:
    columns = ["series", "x", value, "low", "high", "n", "chart"]
    return pd.concat(tables) if tables else pd.DataFrame(columns=columns)


def _ratios(folder: Path, chart: Mapping[str, Any]) -> pd.DataFrame:
    """Return a wide chart of ratios as rows, each with its interval; `x` is text, as in the file."""
    wide = _table(folder / chart["path"], str)  # a series may be called `1`
    long = wide.rename(columns={wide.columns[0]: "series"}).melt("series", var_name="x", value_name="ratio")
    long["ratio"] = pd.to_numeric(long["ratio"])
    spread = _table(folder / chart["companions"]["spread"])[["series", "x", "low", "high", "n"]]
    return long.merge(spread.assign(x=spread["x"].map(level_text)), on=["series", "x"], how="left")


def _table(path: Path, types: Any = _TEXTS) -> pd.DataFrame:
    """Return a CSV as a table. Only an empty field is missing: a variant may be called `None`."""
    return pd.read_csv(path, dtype=types, keep_default_na=False, na_values=[""], low_memory=False)
