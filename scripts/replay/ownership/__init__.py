"""What Replay creates on a cluster, and how it removes it."""
