"""Runs programs: with a time limit, together, in the background, on other hosts."""
