"""Readers of what procedures log. A module with a `READER` reads the cells of experiments that name it as `tool`.

Such a cell consists of many commands, which its procedure logs, so there is no argv to build; see `replay.tools`.
"""
