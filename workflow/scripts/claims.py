"""Judges every claim against a data set."""

from pathlib import Path

from replay.base.snakemake import reporting
from replay.claims.data_set import judge

with reporting(snakemake.log[0]):
    judge(Path(snakemake.output.json).parent)
