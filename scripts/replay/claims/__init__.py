"""Claims: sentences of the talk as predicates, and what a data set says of each."""
