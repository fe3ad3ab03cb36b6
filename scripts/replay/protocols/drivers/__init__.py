"""What does a cell's I/O: one tool, fio clients, rounds of rados bench, a network test, a logged writer, a trial."""
