"""What Replay made on a cluster, and how it is undone."""
