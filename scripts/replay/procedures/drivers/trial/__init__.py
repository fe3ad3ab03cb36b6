"""A trial of a fail-over: steps, writer, contents."""
