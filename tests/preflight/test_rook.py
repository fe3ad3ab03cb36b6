"""The resources for Rook: valid by the schemas of Rook and Kubernetes, and enough for the job that they contain."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from replay.base.errors import ConfigurationError
from replay.base.paths import ROOT
from replay.cluster.site_file import load_site
from replay.preflight.rook import rook_resources
from support.commands import run_preflight

SCHEMAS = yaml.safe_load((ROOT / "tests" / "fixtures" / "rook.yaml").read_text())
SITE = """\
name: mine
label: Mine
limitation: A test.
cluster: {conf: /nowhere/ceph.conf, client: client.replay, keyring: /nowhere/keyring}
pools:
  data: {name: replay, namespace: talk, pg_num: 64, replicas: 2, device_class: ssd}
  journal: {name: replay-journal}
  data_pool: {name: replay-ec, erasure_code: {k: 4, m: 2}}
time_window: {from: 22:00, to: 06:00, timezone: Europe/Berlin}
ceilings: {tenant_latency_seconds: 0.05, bytes_written_to_media_per_run: 1000000000}
allows: [pool_create, pool_delete]
"""


@pytest.fixture
def resources(write_site: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The printed resources of a site whose cluster nobody can reach."""
    write_site("mine", SITE)
    assert run_preflight(["--site", "mine", "--format", "rook"]) == 0
    return list(yaml.safe_load_all(capsys.readouterr().out))


def _of(resources: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [one for one in resources if one["kind"] == kind]


def test_every_resource_is_valid_by_its_schema(resources: list[dict[str, Any]]) -> None:
    kinds = [one["kind"] for one in resources]
    assert kinds == [
        *["CephBlockPool"] * 3,
        *("CephBlockPoolRadosNamespace", "CephClient", "Secret", "PersistentVolumeClaim", "Job"),
    ]
    for one in resources:
        native = one["kind"] in ("Job", "Secret", "PersistentVolumeClaim")
        jsonschema.Draft202012Validator(SCHEMAS[one["kind"]]).validate(one if native else one["spec"])
        assert native or one["apiVersion"] == "ceph.rook.io/v1"
        assert one["metadata"]["namespace"] == "rook-ceph"


@pytest.mark.parametrize("kind", ["CephBlockPool", "CephClient", "Job"])
def test_the_schemas_refuse_a_field_that_does_not_exist(resources: list[dict[str, Any]], kind: str) -> None:
    one = _of(resources, kind)[0]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMAS[kind]).validate({**(one if kind == "Job" else one["spec"]), "spex": 1})


def test_pools_and_the_client_are_those_of_the_site_without_rights_beyond_them(resources: list[dict[str, Any]]) -> None:
    pools = {one["metadata"]["name"]: one["spec"] for one in _of(resources, "CephBlockPool")}
    assert pools == {
        "replay": {
            "failureDomain": "host",
            "deviceClass": "ssd",
            "replicated": {"size": 2},
            "parameters": {"pg_num": "64"},
        },
        "replay-ec": {"failureDomain": "host", "erasureCoded": {"dataChunks": 4, "codingChunks": 2}},
        "replay-journal": {"failureDomain": "host", "replicated": {"size": 3}},
    }
    (client,) = _of(resources, "CephClient")
    assert client["spec"]["caps"]["mon"] == "profile rbd"
    assert client["spec"]["caps"]["osd"].startswith("profile rbd pool=replay namespace=talk, ")


def test_the_job_writes_what_its_site_file_names_and_that_file_is_valid(
    resources: list[dict[str, Any]], write_site: Callable[[str, str], Path], tmp_path: Path
) -> None:
    (secret,), (job,) = _of(resources, "Secret"), _of(resources, "Job")
    text = secret["stringData"]["mine.yaml"]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    etc, project, programs = (tmp_path / name for name in ("etc", "project", "programs"))
    for folder in (etc, project / "config" / "sites", project / "config" / "experiments", programs):
        folder.mkdir(parents=True)
    (tmp_path / "mine.yaml").write_text(text)
    (programs / "replay").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\n[ "$1" != measure ]\n')
    (programs / "replay").chmod(0o755)
    script = container["command"][2].replace("/etc/ceph", str(etc)).replace("/site/", f"{tmp_path}/")
    given = {"CLIENT": "client.replay", "KEY": "a-key", "MONITORS": "a=10.0.0.1:6789,b=10.0.0.2:6789"}
    assert {one["name"] for one in container["env"]} == set(given)
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=project,
        env=given | {"PATH": f"{programs}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, ""), "the status is that of measuring"
    called = (tmp_path / "called").read_text().splitlines()
    assert [line.split()[0] for line in called] == ["preflight", "measure", "clean"]
    assert (etc / "ceph.conf").read_text() == "[global]\nmon_host = 10.0.0.1:6789,10.0.0.2:6789\n"
    assert (etc / "replay.keyring").read_text() == "[client.replay]\nkey = a-key\n"
    assert (etc / "replay.keyring").stat().st_mode & 0o777 == 0o600
    write_site("mine", (project / "config" / "sites" / "mine.yaml").read_text())
    site = load_site("mine", check_files=False)
    assert (site.pools.data.spec, site.allows) == ("replay/talk", frozenset())
    assert (site.ceilings.tenant_latency_seconds, str(site.time_window)) == (0.05, "22:00 to 06:00 Europe/Berlin")
    assert site.primary.arguments() == [
        *("--conf", "/etc/ceph/ceph.conf", "--name", "client.replay", "--keyring", "/etc/ceph/replay.keyring")
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("name: replay-journal", "name: replay_journal"), "'replay_journal' is no name for Kubernetes"),
        (("[pool_create, pool_delete]", "[second_site]"), "Rook mirrors pools with resources of both clusters"),
    ],
)
def test_what_rook_cannot_say_is_refused(
    write_site: Callable[[str, str], Path], change: tuple[str, str], said: str
) -> None:
    write_site("mine", SITE.replace(*change))
    with pytest.raises(ConfigurationError, match=said):
        rook_resources(load_site("mine", check_files=False))
