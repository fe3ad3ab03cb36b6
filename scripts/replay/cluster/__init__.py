"""Asking Ceph: sites, sessions, health, mirroring, placement."""
