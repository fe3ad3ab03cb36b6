"""Workflow: what the Snakefile's rules run, which rules are due, and how to start Snakemake."""
