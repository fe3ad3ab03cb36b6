"""Turns the raw output of a data set's experiments into their tables."""

from pathlib import Path

from replay.base.snakemake import reporting
from replay.derive.experiment import derive_experiments

with reporting(snakemake.log[0]) as say:
    for derived in derive_experiments(Path(path).parent for path in snakemake.output.tidy):
        for line in derived.lines():
            say(line)
