"""Readers of what procedures log. A module that holds a `READER` reads the cells of an experiment with that `tool`.

Such a cell consists of many commands that its procedure logs, so there is no argv to build; see `replay.tools`.
"""
