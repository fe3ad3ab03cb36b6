"""Starts a talk from a data set: its questions, the claims that answer them, its slides and its files."""
