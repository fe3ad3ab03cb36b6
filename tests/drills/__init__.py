"""Drills: faults caused on purpose on a sandbox of real Ceph, each with what Replay promises of it (`npm run drills`).

Each module `dNN_*.py` is one drill: it declares `DRILL`, and its name gives the order.
"""
