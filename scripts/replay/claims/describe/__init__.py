"""Describes a data set: manifest.json, recording.json, releases.json, datapackage.json. Needs no cluster."""
