"""Runs blocks: the command, the block, the runner, the guard."""
