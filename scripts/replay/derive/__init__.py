"""Derives tables from raw output: turns `evidence/` into tidy.csv and aggregates. Needs no cluster.

docs/deriving.md explains what `replay derive` does.
"""
