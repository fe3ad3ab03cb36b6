"""What every room uses: errors, paths, clock, progress, costs, statistics, tables. Imports nothing of Replay."""
