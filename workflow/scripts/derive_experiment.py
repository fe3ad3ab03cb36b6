"""Turns an experiment's raw output into its tables."""

from pathlib import Path

from replay.base.snakemake import reporting
from replay.derive.experiment import derive_experiment

with reporting(snakemake.log[0]) as say:
    derived = derive_experiment(Path(snakemake.output.tidy).parent)
    for line in derived.lines():
        say(line)
