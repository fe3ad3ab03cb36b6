"""Derive: from `raw/` to tidy.csv, aggregates, manifest.json and datapackage.json. Pure, free, without a cluster.

`python -m replay.derive --help`; docs/deriving.md says what it does.
"""
