"""What a cluster allows, only by reading."""
