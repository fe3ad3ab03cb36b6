"""Evidence: written, sealed, read, verified."""
