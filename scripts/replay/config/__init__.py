"""What people wrote under `config/`, checked."""
