"""What observes a cell and waits for its after-effects: mirroring, trims, the replica, the daemons."""
