"""`python -m replay.sandbox.site_loss_guardian PROCESSES`: lets stopped daemons go on when its starter has ended.

PROCESSES is a JSON list of `replay.sandbox.processes.Process`. The starter holds this process' standard input open: it
closes with the starter, however that ends. Signals that would end both are ignored.
"""

from __future__ import annotations

import json
import signal
import sys

from replay.sandbox import processes


def main() -> int:
    """Say that it stands by, wait for the end of standard input, and let the processes go on."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    stopped = [processes.Process(**one) for one in json.loads(sys.argv[1])]
    print("ready", flush=True)
    sys.stdin.buffer.read()
    processes.thaw(stopped)
    return 0


if __name__ == "__main__":
    sys.exit(main())
