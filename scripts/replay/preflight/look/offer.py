"""What Replay could measure on clusters that it has looked at, in hours and bytes. Pure, apart from reading config/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from replay.base.errors import ConfigurationError
from replay.base.invocation import replay_command
from replay.base.paths import config_directory
from replay.cluster.site import Site
from replay.design.configuration import experiment_names
from replay.design.design import Design
from replay.design.estimate import Estimate, Terms, reckon
from replay.design.sizing import PoolCopies
from replay.preflight.look.layout import Row, Section, columns
from replay.preflight.plan import design_for

SCALES = ("quick", "talk")
_GIBIBYTE = 1 << 30
_TITLE = "What Replay could measure here"


@dataclass(frozen=True)
class Offer:
    """The designs of every experiment on a site, by experiment and scale; empty outside a project."""

    designs: Mapping[str, Mapping[str, Design]]

    @classmethod
    def on(cls, site: Site) -> Offer:
        """Return what config/experiments describes. Raises ConfigurationError if a file there is wrong."""
        try:
            config_directory()
        except ConfigurationError:
            return cls({})
        at_scale = {scale: experiment_names(scale) for scale in SCALES}
        names = sorted({name for scale_names in at_scale.values() for name in scale_names})
        return cls(
            {
                name: {scale: design_for(site, name, scale) for scale in SCALES if name in at_scale[scale]}
                for name in names
            }
        )

    def estimates(self, copies: PoolCopies) -> dict[str, dict[str, Estimate]]:
        """Return the estimates of the experiments that are possible, by experiment and scale: nothing measured yet."""
        terms = Terms(copies)
        return {
            name: {scale: reckon(design, [design.sets] * design.blocks, (), terms) for scale, design in designs.items()}
            for name, designs in self.designs.items()
            if any(design.sets for design in designs.values())
        }

    def impossible(self) -> dict[str, list[str]]:
        """Return the experiments that are not possible at all, by what is missing first."""
        found: dict[str, list[str]] = {}
        for name, designs in self.designs.items():
            skipped = [skip for design in designs.values() for skip in design.skipped]
            if skipped and not any(design.sets for design in designs.values()):
                found.setdefault(f"{skipped[0].requires}: {skipped[0].detail}", []).append(name)
        return found


def total_at(estimates: Mapping[str, Mapping[str, Estimate]], scale: str) -> Estimate:
    """Return the sum of all experiments at a scale."""
    return sum((each[scale] for each in estimates.values() if scale in each), Estimate())


def section(offer: Offer, copies: PoolCopies, pool: str | None, osds_stand_out: str = "") -> Section:
    """Return the section. `pool` is the one whose copies are taken; `osds_stand_out` names an OSD that is slow now."""
    if not offer.designs:
        text = f"not known here, because this folder is no project: {replay_command('init')} makes one"
        return Section(_TITLE, [Row("", text)])
    estimates = offer.estimates(copies)
    table = [["experiment", *(head for scale in SCALES for head in (scale, "client", "media"))]]
    table += [[name, *_cells(each)] for name, each in estimates.items()]
    if len(estimates) > 1:
        table.append(["all of it", *_cells({scale: total_at(estimates, scale) for scale in SCALES})])
    rows = [Row("", line) for line in columns(table, right=range(1, len(table[0])))]
    by_pool = f"with the {copies.data:g} copies of pool {pool}" if pool else f"with {copies.data:g} copies"
    rows.append(Row("", f"client: GiB that clients write; media: GiB that the first cluster stores of it, {by_pool}"))
    rows.append(Row("", "first estimates: a faster cluster writes more in the same time"))
    for why, names in offer.impossible().items():
        rows.append(Row("", f"not here: {', '.join(names)} ({why})"))
    if osds_stand_out:
        rows.append(Row("", f"a run now would price the disk of {osds_stand_out}", stands_out=True))
    return Section(_TITLE, rows)


def _cells(estimates: Mapping[str, Estimate]) -> list[str]:
    cells = []
    for scale in SCALES:
        if (figures := estimates.get(scale)) is None:
            cells += [""] * 3
        else:
            sizes = [size / _GIBIBYTE for size in (figures.client_bytes, figures.media_bytes)]
            shown = [f"{size:,.1f}" if size < 10 else f"{size:,.0f}" for size in sizes]
            cells += [_time_text(figures.seconds), *shown]
    return cells


def _time_text(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"
