"""Takes results that somebody has already, in files of well-known tools, as a data set. Needs no cluster."""
