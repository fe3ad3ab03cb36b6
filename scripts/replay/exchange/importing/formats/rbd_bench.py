"""Output of `rbd bench`: a header, a row for each second, a summary."""

from __future__ import annotations

import re

from replay.exchange.importing.found import Found, Level, NotTaken

FAMILY = "rbd-bench"
_HEADER = re.compile(
    r"^bench(?:-write)? +(?:type (?P<type>read|write|readwrite) +)?(?:read:write=(?P<mix>\d{1,3}):\d+ +)?"
    r"io_size (?P<size>\d{1,15}) +io_threads (?P<threads>\d{1,9}) +bytes (?P<bytes>\d{1,18}) +"
    r"pattern (?P<pattern>\S.*)",
    re.ASCII | re.MULTILINE,
)
_END = re.compile(r"^(?:elapsed|read_ops|write_ops): .*\n", re.ASCII | re.MULTILINE)
_PATTERNS = {"random": "rand", "rand": "rand", "sequential": "seq", "seq": "seq"}
_FULL = {"full sequential": "full-seq", "full-seq": "full-seq"}


def knows(text: str) -> bool:
    """Return whether a text contains the header of `rbd bench`."""
    return _HEADER.search(text) is not None


def read(text: str) -> list[Found | NotTaken]:
    """Return the runs of a text, each from its header to the last line of its summary."""
    headers = list(_HEADER.finditer(text))
    found: list[Found | NotTaken] = []
    for header, following in zip(headers, [*headers[1:], None], strict=True):
        until = following.start() if following else len(text)
        ends = [match.end() for match in _END.finditer(text, header.end(), until)]
        if not ends:
            found.append(NotTaken("a run without a summary: it was cut off"))
            continue
        pattern = header["pattern"].strip()
        levels: dict[str, Level] = {
            "io_type": header["type"] or "write",
            "io_pattern": (_PATTERNS | _FULL).get(pattern, pattern[:20]),
            "io_size_bytes": int(header["size"]),
            "io_threads": int(header["threads"]),
        }
        if header["mix"]:
            levels["rw_mix_read"] = int(header["mix"])
        found.append(
            Found("rbd_bench_output", ((header.start(), ends[-1]),), levels, {"io_total_bytes": header["bytes"]})
        )
    return found
