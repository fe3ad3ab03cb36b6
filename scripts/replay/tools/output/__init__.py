"""Parsers of what tools print, strict and pure. Each tool's module chooses the ones that it needs."""
