"""Readers of what procedures log. A module that holds a `READER` reads the cells of an experiment with that `tool`.

Such a cell is many commands of a procedure, each in its log, so that there is no argv to build: see `replay.tools`.
"""
