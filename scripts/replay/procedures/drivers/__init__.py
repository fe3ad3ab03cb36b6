"""What makes a cell's I/O: one tool, fio clients, rados bench in rounds, two ends, a logged writer, a trial."""
