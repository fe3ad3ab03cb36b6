"""Cells of a design, by their names."""

from __future__ import annotations

from replay.design.design import Cell
from replay.measure.procedure import Procedure


def cell(protocol: Procedure, point: str, variant: str) -> Cell:
    """Return the cell of a variant at a point of a procedure's design."""
    return next(
        one for each in protocol.design.sets if each.point == point for one in each.cells if one.variant.name == variant
    )


def cells(protocol: Procedure, variant: str, **levels: object) -> list[Cell]:
    """Return the cells of a variant that have these levels, in the design's order."""
    every = [one for each in protocol.design.sets for one in each.cells if one.variant.name == variant]
    return [one for one in every if levels.items() <= one.levels.items()]
