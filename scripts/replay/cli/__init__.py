"""The command `replay`: its grammar, and who runs what. Everything here needs the standard library only."""
