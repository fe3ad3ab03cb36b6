"""Samplers observe while a cell runs: CPU, disks, load. They never act."""
