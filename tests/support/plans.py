"""Plans of shipped experiments, as measuring writes them."""

from __future__ import annotations

from replay.design.configuration import load_experiment
from replay.design.design import PlanFile, PlannedBlock, plan_digest
from replay.design.expansion import expand


def plan_of(*names: str, scale: str = "quick") -> PlanFile:
    """Return a plan of the first block of these experiments."""
    designs = {name: expand(load_experiment(name), scale) for name in names}
    blocks = tuple(PlannedBlock(name, 1, plan_digest(design, 1)) for name, design in designs.items())
    return PlanFile("sandbox", "mine", scale, (), dict.fromkeys(names, "0"), blocks)
