"""Describes a data set: manifest, recording, comparison with older releases, data package."""

from pathlib import Path

from replay.base.snakemake import reporting
from replay.claims.data_set import describe

with reporting(snakemake.log[0]):
    describe(Path(snakemake.output.manifest).parent)
