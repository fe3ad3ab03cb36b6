"""Describes a data set: manifest.json, recording.json, datapackage.json. Needs no cluster."""
