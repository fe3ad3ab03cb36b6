"""What makes the I/O of a cell: one tool, fio clients, rados bench in rounds, two ends, a logged writer, a trial."""
