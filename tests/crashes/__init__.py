"""Crash points: Replay's commands, stopped before each call that changes a file, without Ceph (`npm run crashes`).

One run of a command is recorded call by call (`recorded`). From the record, `disk` works out what a kill or a power cut
would leave at each call. `__main__` lays that out, and checks what `promises` says: the next run completes and has lost
nothing. `ground` has the scripted cluster that the commands meet.
"""
