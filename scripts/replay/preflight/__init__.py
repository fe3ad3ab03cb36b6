"""Finds out what a cluster allows, without changing anything."""
