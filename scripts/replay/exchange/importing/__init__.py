"""Imports existing results, in files of well-known tools, as a data set. Needs no cluster."""
