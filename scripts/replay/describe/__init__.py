"""Describe: what is in a data set, told by files: manifest.json, recording.json, datapackage.json. Needs no cluster."""
