"""Shared basics: errors, paths, clock, progress, costs, statistics, tables. Imports no other part of Replay."""
