"""Derive: turns `raw/` into tidy.csv, aggregates, manifest.json and datapackage.json. Needs no cluster.

`python -m replay.derive --help`; docs/deriving.md says what it does.
"""
