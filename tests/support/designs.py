"""Cells of a design, by their names."""

from __future__ import annotations

from replay.design.design import Cell
from replay.measure.procedure import Procedure


def cell(protocol: Procedure, point: str, variant: str) -> Cell:
    """Return the cell of a variant at a point of a procedure's design."""
    return next(
        one for each in protocol.design.sets if each.point == point for one in each.cells if one.variant.name == variant
    )
