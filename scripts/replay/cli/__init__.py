"""The `replay` command: its grammar and its subcommands. Everything here needs only the standard library."""
