"""Answers the talk's question in a table, answer.csv: what each mode of mirroring loses, and what its writes pay."""
