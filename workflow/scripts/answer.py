"""Takes the talk's answer from a data set."""

from pathlib import Path

from replay.base.snakemake import reporting
from replay.claims.data_set import answer

with reporting(snakemake.log[0]):
    answer(Path(snakemake.output[0]).parent)
