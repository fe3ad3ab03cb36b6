"""The parts of a fail-over trial: its client, its known contents, its step log, its image on two clusters."""
