"""Reads and checks the files that people write under `config/`."""
