"""A site of a cluster that nobody asks: plans and dry runs need no more. `golden.py`, which runs alone, has its own."""

from __future__ import annotations

from pathlib import Path

SITE = """\
name: lab
label: Lab
limitation: Nothing runs here.
cluster: {{ conf: {folder}/ceph.conf, client: client.replay, keyring: {folder}/keyring }}
pools:
  data: {{ name: replay }}
allows: []
"""


def write_lab(project: Path) -> None:
    """Write the site `lab` of a project, and the files that it names."""
    for name, text in (("ceph.conf", "[global]\n"), ("keyring", ""), ("config/sites/lab.yaml", SITE)):
        (project / name).write_text(text.format(folder=project))
