"""A fail-over trial: its steps, its writer, and what its images hold afterwards."""
