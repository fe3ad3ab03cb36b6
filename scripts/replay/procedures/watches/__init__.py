"""What looks on while a cell runs, and awaits what it sets in motion: mirroring, trims, the replica, the daemons."""
