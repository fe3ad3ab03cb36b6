"""The `replay` command: its grammar and its subcommands. The modules here need only the standard library."""
