"""The options and factors of experiments that the benchmark tools understand."""

from __future__ import annotations

from replay.design.needs import FLAG, NUMBER, TEXT, WHOLE, Factor, Option

IO_SIZE = Factor("io_size_bytes", "bytes of each operation", required=True)
IO_PATTERN = Factor("io_pattern", "where operations go: rand, seq", words=("rand", "seq", "full-seq"))
IO_TYPE = Factor("io_type", "what operations do, as fio or rbd bench names it: read, write, randwrite, randrw, …")
RW_MIX = Factor("rw_mix_read", "percent of reads in a mix")

RBD_BENCH_FACTORS = (
    Factor("io_type", "what operations do", words=("read", "write", "readwrite", "rw"), required=True),
    Factor("io_pattern", "where operations go", words=("rand", "seq", "full-seq"), required=True),
    IO_SIZE,
    RW_MIX,
)
RBD_BENCH_OPTIONS = (
    Option("io_threads", WHOLE, "operations", "operations in flight", default=16, varies=True),
    Option("one_pass", FLAG, "", "whether a sequential cell goes through its image only once", default=False),
)

FIO_FACTORS = (
    Factor("io_type", "what operations do, as fio names it: randwrite, read, randrw, …", required=True),
    IO_PATTERN,
    IO_SIZE,
    RW_MIX,
)
IO_DEPTH = Option("io_depth", WHOLE, "operations", "operations in flight per client", default=16, varies=True)
RAMP = Option(
    "ramp_seconds", NUMBER, "seconds", "how long the load runs before fio's report begins", default=1, can_be_zero=True
)
FIO_OPTIONS = (IO_DEPTH, RAMP)
CLIENTS = Factor("clients", "how many clients start together, each with an image of its own", required=True)

RADOS_FACTORS = (
    Factor("mode", "what rados bench does", words=("write", "seq", "rand"), required=True),
    Factor("object_size_bytes", "bytes of each object", required=True),
)
RADOS_OPTIONS = (
    Option("threads", WHOLE, "operations", "operations in flight per instance", default=16, varies=True),
    Option("write_most_objects", WHOLE, "objects", "the most that a cell may write"),
    Option("write_most_bytes", WHOLE, "bytes", "the most that a cell may write"),
)

DEVICE_CLASS = Factor("device_class", "the device class that holds the data", words=("fast", "capped"), required=True)
CAP_OPTIONS = (
    Option(
        "cap_iops", WHOLE, "operations/s", "the most reads, and the most writes, that the disk of a capped OSD may do"
    ),
    Option("most_replicas", WHOLE, "copies", "the most copies of each object; fewer if a class has fewer OSDs"),
    Option("pg_num", WHOLE, "", "placement groups of each pool that Replay makes"),
)

FIO_FILE_OPTION = Option(
    "file_size_bytes", WHOLE, "bytes", "the size of the file, or of the part of an image, that is used"
)
ENGINE = Option("engine", TEXT, "", "fio's engine for files, such as libaio or psync")
