"""Drills: faults caused on purpose, most on a sandbox of real Ceph, each with what Replay promises of it.

`npm run drills` runs them. Each module has drills of one kind, in `DRILLS`; their numbers give the order.
"""
