"""Judges the claims, answers the question, and describes a data set."""

from pathlib import Path

from replay.base.snakemake import reporting
from replay.claims.data_set import judge_and_describe

with reporting(snakemake.log[0]):
    judge_and_describe(Path(snakemake.output[0]).parent)
