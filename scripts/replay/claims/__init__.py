"""Claims: the talk's sentences as predicates, and each data set's verdict on them."""
