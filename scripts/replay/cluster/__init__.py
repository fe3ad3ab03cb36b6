"""Queries Ceph: sites, sessions, health, mirroring, placement."""
