"""Workflow: what the rules of the Snakefile run, which of them is due, and how Snakemake is started."""
