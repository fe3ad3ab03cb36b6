"""The application of a fail-over trial: fills an image, writes to it in a known order, or writes once when told to.

The system's Python runs it, because the `rbd` module comes with Ceph's packages. It imports only the standard library,
`rados` and `rbd`, and no module beside it may have their names. Replay imports `inspect` from here, so that writer and
verifier cannot differ in the pattern.

    argv         fill|write|write-once SPEC
    SPEC         JSON with conf, client, keyring, options, pool, namespace, image, seed, and where needed
                 origin (a reading of the monotonic clock), writes_per_second
    fill         writes the whole image and ends
    write        writes one block after another, each once the previous one is acknowledged, at most
                 writes_per_second; prints `write,acknowledged_seconds` as CSV, a line for each acknowledgement;
                 ends when stdin ends
    write-once   connects, prints {"ready": true}, waits for a line on stdin, opens the image, tries until one write
                 is acknowledged, prints {"acknowledged_seconds": …, "attempts": …, "refused": [errno, …]}

Times are seconds since `origin`. The last block of the image is reserved for `write-once`.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import threading
import time
from dataclasses import dataclass

BLOCK_BYTES = 4096
CSV_HEADER = "write,acknowledged_seconds"


def _block(text):
    return hashlib.sha256(text.encode()).digest() * (BLOCK_BYTES // 32)


def write_block(seed, number):
    """Return the contents of a write, numbered from 0: `BLOCK_BYTES` bytes."""
    return _block(f"{seed} write {number}")


def fill_block(seed, position):
    """Return what a block holds before it is written to: `BLOCK_BYTES` bytes."""
    return _block(f"{seed} fill {position}")


def first_block(seed):
    """Return the contents of the first write on the other side."""
    return _block(f"{seed} first")


def spread(number, count):
    """Return which of `count` places a number from 0 takes: each place once, before any is taken again.

    Steps of about the golden ratio keep neighbours far apart.
    """
    step = max(1, int(count * 0.618))
    while math.gcd(step, count) != 1:
        step += 1
    return number * step % count


def position_of(number, blocks):
    """Return which of an image's `blocks` a write goes to: any but the last, and none of them twice."""
    return spread(number, blocks - 1)


def _connect(spec):
    import rados  # noqa: PLC0415 (only the child has the module)

    options = dict(spec["options"])
    if spec["keyring"]:
        options["keyring"] = spec["keyring"]
    cluster = rados.Rados(name=spec["client"], conffile=spec["conf"], conf=options)
    cluster.connect(timeout=30)
    pool = cluster.open_ioctx(spec["pool"])
    pool.set_namespace(spec["namespace"])
    return pool


def _open(pool, spec):
    import rbd  # noqa: PLC0415

    return rbd.Image(pool, spec["image"])


def fill(spec):
    """Write every block of the image once, in large pieces."""
    with _open(_connect(spec), spec) as image:
        size, chunk = image.size(), 1 << 20
        for offset in range(0, size, chunk):
            blocks = range(offset // BLOCK_BYTES, min(offset + chunk, size) // BLOCK_BYTES)
            image.write(b"".join(fill_block(spec["seed"], position) for position in blocks), offset)
        image.flush()


def write(spec):
    """Write until stdin ends. Returns the exit status: 1 if the image is full before that."""
    stop = threading.Event()

    def watch_stdin():
        sys.stdin.read()
        stop.set()

    threading.Thread(target=watch_stdin, daemon=True).start()
    with _open(_connect(spec), spec) as image:
        blocks = image.size() // BLOCK_BYTES
        interval = 1 / spec["writes_per_second"]
        print(CSV_HEADER, flush=True)
        due = time.monotonic()
        for number in range(blocks - 1):
            if stop.wait(max(0.0, due - time.monotonic())):
                return 0
            image.write(write_block(spec["seed"], number), position_of(number, blocks) * BLOCK_BYTES)
            print(f"{number},{time.monotonic() - spec['origin']:.6f}", flush=True)
            # A slow write delays those after it: they do not come faster to make up for it.
            due = max(due + interval, time.monotonic())
    print("the image is full: it is too small for this rate and time", file=sys.stderr)
    return 1


def write_once(spec):
    """Write the last block when told to, trying again until the cluster accepts it. Returns the exit status."""
    import rbd  # noqa: PLC0415

    pool = _connect(spec)
    print(json.dumps({"ready": True}), flush=True)
    if not sys.stdin.readline():
        return 1
    refused = []
    while True:
        try:
            with _open(pool, spec) as image:
                image.write(first_block(spec["seed"]), (image.size() // BLOCK_BYTES - 1) * BLOCK_BYTES)
                acknowledged = time.monotonic() - spec["origin"]
            break
        except rbd.Error as error:
            refused.append(getattr(error, "errno", None))
            time.sleep(0.02)
    answer = {"acknowledged_seconds": round(acknowledged, 6), "attempts": len(refused) + 1, "refused": refused}
    print(json.dumps(answer), flush=True)
    return 0


def main():
    """Do what the first argument says; return the exit status."""
    mode, spec = sys.argv[1], json.loads(sys.argv[2])
    try:
        return {"fill": fill, "write": write, "write-once": write_once}[mode](spec) or 0
    except ImportError as error:
        print(f"{error}: install the packages python3-rados and python3-rbd", file=sys.stderr)
    except Exception as error:  # the exceptions of rados and rbd have no other class in common
        print(f"{mode}: {error}", file=sys.stderr)
    return 1


@dataclass(frozen=True)
class Contents:
    """The contents of an image.

    `writes_present` is the number of writes 0, 1, 2, … before the first missing one. `unexplained_blocks` counts the
    blocks that differ from an image with exactly these writes. `sha256` and `expected_sha256` cover all blocks but the
    last, which belongs to the first write on the other side.
    """

    writes_present: int
    unexplained_blocks: int
    sha256: str
    expected_sha256: str
    first_write_present: bool


def inspect(data: bytes, seed: int) -> Contents:
    """Return what an image of `seed` holds. Raises ValueError if its size is not a whole number of blocks."""
    blocks, rest = divmod(len(data), BLOCK_BYTES)
    if rest or blocks < 2:
        raise ValueError(f"{len(data)} bytes are not an image of whole blocks")

    def found(position: int) -> bytes:
        return data[position * BLOCK_BYTES : (position + 1) * BLOCK_BYTES]

    present = 0
    expected = {position: fill_block(seed, position) for position in range(blocks - 1)}
    while present < blocks - 1:
        position, wanted = position_of(present, blocks), write_block(seed, present)
        if found(position) != wanted:
            break
        expected[position] = wanted
        present += 1
    digest = hashlib.sha256()
    for position in range(blocks - 1):
        digest.update(expected[position])
    return Contents(
        writes_present=present,
        unexplained_blocks=sum(found(position) != expected[position] for position in range(blocks - 1)),
        sha256=hashlib.sha256(data[: -BLOCK_BYTES or None]).hexdigest(),
        expected_sha256=digest.hexdigest(),
        first_write_present=found(blocks - 1) == first_block(seed),
    )


if __name__ == "__main__":
    sys.exit(main())
