"""Packages, citation and the changelog's last release have the same version."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
import yaml

from replay.base.paths import ROOT


@pytest.fixture(scope="module")
def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text())


def test_packages_citation_and_changelog_name_one_version(citation):
    released = re.findall(r"^## \[(\d[^]]*)\] - ([\d-]+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert (citation["version"], citation["date-released"]) == released[0]
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == citation["version"]
    assert json.loads((ROOT / "package.json").read_text())["version"] == citation["version"]


def test_the_citation_has_what_its_format_requires(citation):
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert all(citation[key] for key in ("message", "title"))
    assert [list(author) for author in citation["authors"]] == [["name"]], "entities, no persons"
