"""The talk's one question as a table, answer.csv: what is lost by mode of mirroring, against what each write pays."""
