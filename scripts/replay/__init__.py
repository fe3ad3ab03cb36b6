"""Replay: a conference talk that regenerates from a Ceph cluster."""
