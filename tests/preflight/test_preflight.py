from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from replay.base.programs import Programs, Release
from replay.cli.main import main
from replay.cluster import admin_commands
from replay.cluster.admin_commands import administrator, rights
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.session import MonitorSession
from replay.cluster.site import Ceilings, Pool, Site
from replay.cluster.site_file import load_site
from replay.ownership.ledger import Ledger
from replay.ownership.write_budget import WriteBudget
from replay.preflight import checks as preflight_checks
from replay.preflight import command as preflight
from replay.preflight import mirroring, pool_checks, write_probe
from replay.preflight.checks import Findings
from support.hostile import ClosedPath
from support.samples import fixture_json

Load = Callable[..., Site]
TEXT = """\
name: mine
label: Mine
limitation: A test.
cluster: {conf: CONF, client: client.replay, keyring: KEYRING}
pools:
  data: {name: replay, namespace: talk, pg_num: 64, replicas: 3, device_class: ssd}
  journal: {name: replay-journal}
  data_pool: {name: replay-ec, device_class: hdd, erasure_code: {k: 4, m: 2}}
second_cluster: {conf: SECOND.conf, client: client.replay, keyring: SECOND.keyring}
time_window: {from: 22:00, to: 06:00, timezone: Europe/Berlin}
allows: [second_site]
"""


def text_of(report: preflight.Report) -> str:
    stream = StringIO()
    preflight.show(report, stream)
    return stream.getvalue()


class GoneReader(StringIO):
    def write(self, _: str) -> int:
        raise BrokenPipeError


def test_a_reader_that_is_gone_is_left_to_the_command(load: Load) -> None:
    with pytest.raises(BrokenPipeError):
        preflight.show(preflight.Report(load(), Findings(), []), GoneReader())


@pytest.fixture
def load(write_site: Callable[[str, str], Path], tmp_path: Path) -> Load:
    """Return a function that loads the site; its files are in a folder, and need not exist."""

    def loaded(folder: Path = tmp_path, *, allows: str = "[second_site]") -> Site:
        text = TEXT.replace("CONF", f"{folder}/ceph.conf").replace("KEYRING", f"{folder}/keyring")
        write_site("mine", text.replace("SECOND", f"{folder}/second").replace("[second_site]", allows))
        return load_site("mine", check_files=False)

    return loaded


def test_the_commands_of_an_administrator_are_complete_and_exact(load: Load, tmp_path: Path) -> None:
    site = load()
    ceph, rbd = (f"{program} --conf {tmp_path}/ceph.conf --name client.admin" for program in ("ceph", "rbd"))
    assert [one.text for one in admin_commands.user(site)] == [
        "(umask 077 && set -o noclobber &&\n"
        f"  key=$({ceph} auth get-or-create client.replay mon 'profile rbd' "
        "osd 'profile rbd pool=replay namespace=talk, profile rbd pool=replay-ec, profile rbd pool=replay-journal' "
        "mgr 'profile rbd pool=replay, profile rbd pool=replay-ec, profile rbd pool=replay-journal') &&\n"
        f"  printf '%s\\n' \"$key\" > {tmp_path}/keyring)"
    ]
    assert admin_commands.pool(site.primary, site.pools.data).text == (
        f"if pools=$({ceph} osd pool ls) && ! printf '%s\\n' \"$pools\" | grep -qxF -e replay; then\n"
        f"  {ceph} osd crush rule create-replicated replay-ssd default host ssd &&\n"
        f"  {ceph} osd pool create replay 64 64 replicated replay-ssd &&\n"
        f"  {ceph} osd pool set replay size 3 &&\n"
        f"  {rbd} pool init replay &&\n"
        f"  {rbd} namespace create --pool replay --namespace talk\n"
        "fi"
    )
    assert site.pools.data_pool is not None
    command = admin_commands.pool(site.primary, site.pools.data_pool, is_data_pool=True)
    assert command.text.splitlines()[1:] == [
        f"  {ceph} osd erasure-code-profile set replay-ec k=4 m=2 crush-failure-domain=host crush-device-class=hdd &&",
        f"  {ceph} osd crush rule create-erasure replay-ec replay-ec &&",
        f"  {ceph} osd pool create replay-ec 32 32 erasure replay-ec replay-ec &&",
        f"  {ceph} osd pool set replay-ec allow_ec_overwrites true &&",
        f"  {ceph} osd pool application enable replay-ec rbd",
        "fi",
    ]
    assert command.undo.splitlines()[1:] == [
        f"{ceph} osd pool delete replay-ec replay-ec --yes-i-really-really-mean-it &&",
        f"{ceph} osd crush rule rm replay-ec &&",
        f"{ceph} osd erasure-code-profile rm replay-ec",
    ]


def test_commands_are_also_printed_for_a_host_of_the_cluster_and_for_its_container(load: Load, tmp_path: Path) -> None:
    (tmp_path / "second.client.admin.keyring").touch()
    site = load()
    made = admin_commands.initialise(site.primary, site.pools.data)
    assert admin_commands.in_form(made.text, site, "conf") == made.text
    assert admin_commands.in_form(made.text, site, "plain") == "rbd pool init replay"
    assert admin_commands.in_form(made.text, site, "cephadm") == (
        f"{{\ncephadm shell --config {tmp_path}/ceph.conf -- rbd --name client.admin pool init replay\n}} < /dev/null"
    )
    (second,) = admin_commands.second_pool(site)
    plain, inside = (admin_commands.in_form(second.text, site, form) for form in ("plain", "cephadm"))
    assert plain == second.text, "the second cluster is another one than that of the host"
    there = f"--config {tmp_path}/second.conf --keyring {tmp_path}/second.client.admin.keyring"
    assert f"cephadm shell {there} -- ceph --name client.admin osd pool create replay 64" in inside


def test_packages_that_this_machine_lacks_are_installed_on_no_other_one(load: Load) -> None:
    site, findings = load(), Findings()
    findings.add("pools", "refused", "no pool", commands=[admin_commands.initialise(site.primary, site.pools.data)])
    findings.add("tools", "warning", "no iperf3", commands=[admin_commands.install("iperf3")])
    report = preflight.Report(site, findings, [])
    assert preflight.commands_in(report)[1:] == ["apt-get install --yes iperf3"]
    assert preflight.commands_in(report, "plain") == ["rbd pool init replay"]
    assert len(preflight.commands_in(report, "cephadm")) == 1


def test_commands_for_this_machine_run_with_the_release_that_the_site_names(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = Release(20, "20.2.4", "made up", tmp_path / "release")
    site = load()
    site = replace(site, primary=replace(site.primary, programs=Programs(release)))
    assert admin_commands.of_release(site) == [], "this machine does not have it"
    for name in ("ceph", "rbd", "rados"):
        program = tmp_path / "release" / "usr" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch(mode=0o755)
    findings = Findings()
    findings.add("pools", "refused", "no pool", commands=admin_commands.second_pool(site))
    report = preflight.Report(site, findings, [])
    for lines in (preflight.commands_in(report), preflight.undo_in(report)):
        assert [line.partition(" ")[0] for line in lines[:3]] == ["ceph()", "rbd()", "rados()"]
        assert str(tmp_path / "release") in lines[0] and lines[0].endswith(' /usr/bin/ceph "$@"; }')
        checked = subprocess.run(["sh", "-n"], input="\n".join(lines), text=True, capture_output=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, "")
    assert "run with Ceph 20 (tentacle), as the site's file says" in text_of(report)
    assert "If the clusters are newer" not in text_of(report)
    assert not any("ceph()" in line for form in ("plain", "cephadm") for line in preflight.commands_in(report, form))
    # What the functions run is what Replay itself runs: here, a program that prints its arguments.
    monkeypatch.setattr(Programs, "command", lambda self, argv, **_: ["echo", *argv])
    shell = "\n".join([*admin_commands.of_release(site), 'kept=$(ceph osd "pool ls") && rbd "$kept"'])
    done = subprocess.run(["sh", "-c", shell], text=True, capture_output=True, check=True)
    assert done.stdout == "rbd ceph osd pool ls\n"


def test_every_command_has_an_undo_and_the_last_one_is_undone_first(load: Load) -> None:
    report = preflight.preflight(load(), [])
    commands = report.findings.commands()
    assert all(command.undo for command in commands)
    assert report.public()["undo"] == [command.undo for command in reversed(commands)]
    said = text_of(report)
    assert said.index("osd pool create replay 64") < said.index("To undo them") < said.index("osd pool delete replay ")


def _run_with(programs: dict[str, str], script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in an empty folder, where these are the first programs that it finds."""
    folder.mkdir()
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.run(["sh", "-c", script], env=environment, text=True, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("role", "listed", "status", "is_deleted"),
    [
        *((role, "", 0, True) for role in ("data", "data_pool", "journal")),
        *((role, r"\trbd_info\n", 0, True) for role in ("data", "data_pool", "journal")),
        ("data", r"\trbd_info\n\trbd_directory\n\trbd_mirroring\n\trbd_namespace\ntalk\trbd_directory\n", 0, True),
        ("data", r"\trbd_mirror_leader\n\trbd_mirror_instance.4711\ntalk\trbd_mirror_instance.4711\n", 0, True),
        ("data", r"\trbd_info\n\trbd_id.theirs\n", 0, False),
        ("data", r"talk\trbd_header.12\n", 0, False),
        ("data", r"\trbd_namespace\ntheirs\trbd_directory\n", 0, False),
        ("data_pool", r"\trbd_info\n\trbd_data.3.12.0000000000000000\n", 0, False),
        ("journal", r"\trbd_info\n\tjournal.12\n", 0, False),
        ("journal", r"\tjournal_data.3.12.0\n", 0, False),
        ("data", r"\trbd_info\n", 1, False),
    ],
)
def test_the_undo_of_a_pool_deletes_none_that_holds_something_of_an_image_or_cannot_be_listed(
    load: Load, tmp_path: Path, role: str, listed: str, status: int, is_deleted: bool
) -> None:
    site = load()
    wanted = getattr(site.pools, role)
    made = admin_commands.pool(site.primary, wanted, is_data_pool=role == "data_pool")
    programs = {"rados": f"printf '{listed}'\nexit {status}", "ceph": f'echo "$@" >> {tmp_path}/said'}
    done = _run_with(programs, made.undo, tmp_path / "bin")
    said = (tmp_path / "said").read_text() if (tmp_path / "said").exists() else ""
    assert (done.returncode == 0, f" osd pool delete {wanted.name} " in said) == (is_deleted, is_deleted)


@pytest.mark.parametrize(
    ("groups", "is_deleted"),
    [
        ('{"pg_stats":[{"stat_sum":{"num_objects":0}},{"stat_sum":{"num_objects":0}}]}', True),
        ('{"pg_stats":[{"stat_sum":{"num_objects":0}},{"stat_sum":{"num_objects":10}}]}', False),
        ('{"pg_stats":[]}', False),
    ],
)
def test_a_pool_that_cannot_be_listed_is_deleted_only_if_nothing_was_counted_in_it(
    load: Load, tmp_path: Path, groups: str, is_deleted: bool
) -> None:
    site = load()
    undo = admin_commands.pool(site.primary, site.pools.data_pool, is_data_pool=True).undo
    (tmp_path / "groups").write_text(groups)
    ceph = f'case "$*" in *ls-by-pool*) cat {tmp_path}/groups ;; *) echo "$@" >> {tmp_path}/said ;; esac'
    done = _run_with({"rados": "exit 1", "ceph": ceph}, undo, tmp_path / "bin")
    assert (done.returncode == 0, (tmp_path / "said").exists()) == (is_deleted, is_deleted)


@pytest.mark.parametrize(("fsid", "is_stopped"), [("an-fsid", True), ("another", False)])
def test_a_mirror_daemon_is_stopped_only_on_a_host_of_its_cluster(tmp_path: Path, fsid: str, is_stopped: bool) -> None:
    _, packaged = admin_commands.mirror_daemon(Cluster(tmp_path / "second.conf"), "an-fsid", folder=tmp_path)
    keyring = tmp_path / "ceph.client.rbd-mirror.here.keyring"
    keyring.touch()
    programs = {"hostname": "echo here", "ceph": f"echo {fsid}", "systemctl": f'echo "$@" >> {tmp_path}/said'}
    done = _run_with(programs, packaged.undo, tmp_path / "bin")
    assert (done.returncode == 0, (tmp_path / "said").exists()) == (is_stopped, is_stopped)
    assert keyring.exists() != is_stopped


def test_rights_to_make_and_remove_pools_end_at_replays_own(load: Load) -> None:
    site = load()
    pools = replace(site.pools, data=replace(site.pools.data, name="bench", create=True))
    found = rights(replace(site, pools=pools, allows=frozenset({"pool_create", "pool_delete"})))
    commands = re.findall(r'allow command "([^"]*)" with (\S+)(=| prefix )(\S+?)(?:,|$)', found["mon"])
    assert len(commands) == found["mon"].count("allow ")
    assert {(how, value) for _, _, how, value in commands} == {(" prefix ", "replay-"), ("=", "bench")}
    assert [command for command, _, how, _ in commands if how == "="] == ["osd pool delete"]
    assert "allow rwx tag rbd replay=own" in found["osd"]
    assert found["mgr"].endswith('allow command "config show" with key=mon_allow_pool_delete')
    assert rights(site)["mon"] == "profile rbd"


@pytest.mark.parametrize(("up", "denied", "noted"), [(1, True, 1), (1, False, 0), (0, True, 0)])
def test_a_user_who_cannot_read_the_osds_counters_is_told_what_stays_unknown(up: int, denied: bool, noted: int) -> None:
    class Session:
        def command(self, asked: dict[str, str], target: str = "mon", **_: float) -> Any:
            if asked["prefix"] == "osd dump":
                return {"osds": [{"osd": 0, "up": 0}, {"osd": 1, "up": up}]}
            assert (asked["prefix"], target) == ("perf dump", "osd.1"), "an OSD that is down would not answer"
            if denied:
                raise CephCommandError("error 13: Permission denied", where="perf dump", exit_status_of_tool=13)
            return {}

    experiments = preflight.load_experiments()
    findings = Findings()
    preflight_checks.check_counters(Session(), experiments, findings)
    assert [item.level for item in findings.items] == ["skip", "note"] * noted
    if noted:
        skipped, note = (item.text for item in findings.items)
        assert ", which amplification needs. OSDs return them to a user with osd 'allow *', who may then" in skipped
        readers = "distance-price, distance-price-large, fio-offered-rate, fio-profile, response, write-latency"
        assert f". Without what OSDs did: {readers}" in note
    others = [one for one in experiments if one["name"] in ("rbd-bench", "amplification")]
    findings = Findings()
    preflight_checks.check_counters(Session(), others, findings)
    assert [item.level for item in findings.items] == ["skip"] * noted
    findings = Findings()
    preflight_checks.check_counters(Session(), others[1:], findings)
    assert (others[1]["name"], findings.items) == ("rbd-bench", []), "nothing reads them"


@pytest.mark.parametrize(("answer", "level", "status"), [(True, "ok", 0), (False, "refused", 4), (None, "warning", 0)])
def test_preflight_says_whether_pools_can_be_removed(
    load: Load, tmp_path: Path, answer: bool | None, level: str, status: int
) -> None:
    class Session:
        cluster = Cluster(tmp_path / "ceph.conf", "client.replay")

        def command(self, asked: dict[str, str], target: str) -> bool:
            assert (asked["who"], asked["key"], target) == ("mon.a", "mon_allow_pool_delete", "mgr")
            if answer is None:
                raise CephCommandError("error 13: access denied", where="config show", exit_status_of_tool=13)
            return answer

    site = load()
    findings = Findings()
    pool_checks.check_own_pools(site, Session(), {"quorum_names": ["a", "b"]}, findings)
    assert findings.items == [], "the site makes no pools"
    pools = replace(site.pools, data=replace(site.pools.data, create=True))
    site = replace(site, pools=pools, allows=frozenset({"pool_create", "pool_delete"}))
    pool_checks.check_own_pools(site, Session(), {"quorum_names": ["a", "b"]}, findings)
    assert [item.level for item in findings.items] == [level]
    assert preflight.Report(site, findings, []).exit_status == status


def test_the_first_list_covers_both_clusters_and_every_command_names_its_cluster(load: Load, tmp_path: Path) -> None:
    site = load()
    commands = [one.text for one in admin_commands.everything(site)]
    there = f"--conf {tmp_path}/second.conf --name client.admin"
    assert any(f"ceph {there} osd pool create replay 64 64 replicated &&" in each for each in commands)
    assert any(f"ceph {there} auth get-or-create client.replay" in each for each in commands)
    assert any(
        f"rbd {there} mirror pool peer bootstrap import --direction rx-only replay -" in each for each in commands
    )
    for line in "\n".join(commands).splitlines():
        calls = re.findall(r"\b(?:ceph|rbd) (?!rbd)(--\S+)?", re.sub(r"'[^']*'", "", line))
        assert all(first == "--conf" for first in calls), line
    assert not any(
        "--site-name" in each or "auth caps" in each or " -o " in each.replace("set -o", "") for each in commands
    )


def test_the_administrators_keyring_beside_the_conf_is_named(load: Load, tmp_path: Path) -> None:
    (tmp_path / "second.client.admin.keyring").touch()
    site = load()
    first, second = (administrator(each) for each in (site.primary, site.secondary) if each)
    assert first.keyring is None
    assert second.arguments()[-1] == f"{tmp_path}/second.client.admin.keyring"


def test_paths_are_quoted(load: Load, tmp_path: Path) -> None:
    folder = tmp_path / "a folder; of $(mine)"
    folder.mkdir()
    for command in admin_commands.everything(load(folder)):
        for text in (command.text, command.undo):
            words = shlex.split(text.replace("$(", " ").replace(")", " "), comments=False)
            assert not {"a", "folder;", "of"} & set(words), text


def test_no_user_is_printed_over_a_keyring_that_exists(load: Load, tmp_path: Path) -> None:
    (tmp_path / "keyring").symlink_to(tmp_path / "nowhere")
    site = load()
    assert admin_commands.user(site) == []
    (made,) = admin_commands.second_user(site)
    assert "mon 'profile rbd, allow command \"config get\" with key=rbd_mirror_journal_poll_age' osd" in made.text
    (tmp_path / "second.keyring").write_text("somebody's")
    assert admin_commands.second_user(site) == []


def test_no_second_cluster_is_printed_if_the_site_does_not_allow_it(load: Load) -> None:
    site = load(allows="[]")
    assert admin_commands.second_site(site) == []
    assert not any("second.conf" in each.text for each in admin_commands.everything(site))


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
def test_every_command_is_sound_shell(load: Load, shell: str) -> None:
    site = load()
    assert site.secondary is not None
    printed = [*admin_commands.everything(site), *admin_commands.mirror_daemon(site.secondary, "an-fsid")]
    forms = [
        (text, form)
        for one in printed
        for text in (one.text, one.undo)
        for form in (admin_commands.PLAIN, admin_commands.CONF, admin_commands.CEPHADM)
    ]
    for text, form in forms:
        command = admin_commands.in_form(text, site, form)
        checked = subprocess.run([shell, "-n"], input=command, text=True, capture_output=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, ""), command


def test_a_site_without_its_files_gets_all_commands_and_is_refused(load: Load) -> None:
    site = load()
    report = preflight.preflight(site, preflight.load_experiments())
    assert report.exit_status == 4
    assert set(report.findings.commands()) >= set(admin_commands.everything(site))
    text = text_of(report)
    assert "no such file" in text and "Measuring would be REFUSED" in text
    assert "If the clusters are newer, first name their client_release." in text


def test_with_a_keyring_but_no_conf_nothing_is_printed(load: Load, tmp_path: Path) -> None:
    (tmp_path / "keyring").touch()
    report = preflight.preflight(load(allows="[]"), [])
    assert report.exit_status == 4
    assert report.findings.commands() == []


def test_where_nothing_can_be_printed_it_does_not_say_that_nothing_is_missing(
    load: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "keyring").touch()
    load(allows="[]")
    assert main(["preflight", "--site", "mine", "--experiment", "rbd-bench", "--format", "conf"]) == 4
    shown = capsys.readouterr()
    assert shown.out == "no command to run\n"
    assert "no command helps: files: conf of the primary cluster" in shown.err


def test_a_second_cluster_that_keeps_a_run_from_starting_is_refused_with_what_to_do(load: Load, tmp_path: Path) -> None:
    site, findings = load(), Findings()
    second = site.second_site
    assert second is not None
    (tmp_path / "ceph.conf").touch()
    (tmp_path / "keyring").touch(mode=0o600)
    site = replace(site, second_site=replace(second, mirror_daemon_admin_socket=tmp_path / "asok"))
    assert preflight_checks.check_files(site, findings), "the first cluster can be asked"

    class Silent:
        cluster = second.cluster

        def status(self, **_: float) -> None:
            raise CephCommandError("no answer within 10 s", where="ceph status")

    (tmp_path / "second.conf").write_text("[global]\nmon_host = [v2:10.0.0.2:3300]\n")
    assert preflight_checks.check_cluster(Silent(), findings) is None
    preflight._check_secondary(site, second.cluster, findings)
    what = [item.text.split(" of the secondary cluster: ")[0] for item in findings.items]
    assert (what[:2], what[3]) == (["conf", "mirror daemon's admin socket"], "keyring")
    assert "no monitor answered at [v2:10.0.0.2:3300]" in findings.items[2].text
    assert [item.level for item in findings.items] == ["refused"] * 4
    assert findings.commands() == admin_commands.second_site(site)
    assert findings.unsolved() == findings.items[:3], "it is not said that no command helps against the last one"
    advice = "; to measure without the second cluster, remove second_site from allows"
    assert all(item.text.endswith(advice) for item in findings.items)


def test_a_keyring_in_a_folder_that_may_not_be_entered_is_a_finding(load: Load, tmp_path: Path) -> None:
    site, findings = load(allows="[]"), Findings()
    (tmp_path / "ceph.conf").touch()
    site = replace(site, primary=replace(site.primary, keyring=ClosedPath(tmp_path / "keyring")))
    assert not preflight_checks.check_files(site, findings)
    (item,) = findings.items
    assert item.text == f"keyring of the primary cluster: {tmp_path}/keyring: cannot be read by this user"


def test_the_write_probe_leaves_making_pools_to_the_first_measurement(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = SimpleNamespace(session=SimpleNamespace(command=lambda asked: [{"poolname": "replay"}]))
    monkeypatch.setattr(write_probe, "_opened", lambda site: nullcontext((bench, None)))
    findings = Findings()
    write_probe.write_probe(load(), findings)
    (item,) = findings.items
    assert item.level == "note"
    assert item.text == "not tried: the first measurement makes pool replay-ec, replay-journal"


def test_the_write_probe_leaves_what_another_site_s_has_left_to_that_site(tmp_path: Path) -> None:
    ledger = Ledger("11111111-2222-3333-4444-555555555555", directory=tmp_path)
    ledger.intend("image", "theirs", "", "replay-x", site="other", data_set=write_probe.PROBE)
    bench = SimpleNamespace(
        site=SimpleNamespace(name="mine", secondary=None),
        session=SimpleNamespace(cluster=None),  # nothing is asked of it
        ledger=ledger,
        say=print,
    )
    findings = Findings()
    with write_probe._removed(bench, None, findings):
        pass
    assert (findings.items, len(ledger.owned())) == ([], 1)


def test_the_write_probe_keeps_the_lock_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[str] = []
    watch = SimpleNamespace(waiting=lambda site, what, at_most_seconds, say: site())
    bench = SimpleNamespace(session=None, ledger=None, watch=watch, say=print)
    lock = SimpleNamespace(keep=lambda: kept.append("kept"))
    monkeypatch.setattr(write_probe, "opened", lambda *_, **how: nullcontext(bench))
    monkeypatch.setattr(write_probe, "ClusterLock", lambda *_, **how: nullcontext(lock))
    with write_probe._opened("the site") as (_, waiting):
        assert waiting("the copy", 120.0) == "the site"
    assert kept == ["kept"]


CONNECT = "cannot connect: [errno {}] RADOS {} (error connecting to the cluster)"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (CONNECT.format(13, "permission denied"), "key rejected: the primary cluster does not accept the key in"),
        (CONNECT.format(1, "permission error"), "key rejected"),
        (CONNECT.format(110, "RADOS timed out"), "no monitor answered at [v2:10.0.0.1:3300]"),
        ("no answer within 15 s", "no monitor answered at [v2:10.0.0.1:3300]"),
        (CONNECT.format(2, "object not found"), "does not answer as client.replay: cannot connect"),
    ],
)
def test_a_cluster_that_does_not_let_replay_in_gets_no_commands(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, said: str
) -> None:
    def refuse(self: MonitorSession, command: object, **_: object) -> None:
        raise CephCommandError(what, where="here")

    monkeypatch.setattr(MonitorSession, "command", refuse)
    (tmp_path / "ceph.conf").write_text("[global]\n  mon_host = [v2:10.0.0.1:3300]\n")
    for name in ("keyring", "second.conf", "second.keyring"):
        (tmp_path / name).touch(mode=0o600)
    report = preflight.preflight(load(), [])
    assert report.exit_status == 4
    (refused,) = [item for item in report.findings.items if item.level == "refused"]
    assert said in refused.text
    assert report.findings.commands() == []
    assert not any(item.topic == "mirroring" for item in report.findings.items), "it stops there"


@pytest.mark.parametrize("number", [1, 13])
def test_a_user_with_other_capabilities_is_refused_and_no_command_changes_them(load: Load, number: int) -> None:
    site = load()
    denied = CephCommandError(f"error {number}: access denied", where="ceph status", exit_status_of_tool=number)
    assert "this user has other caps; give Replay a user of its own" in preflight_checks.why_no_answer(
        site.primary, denied
    )


class Denying:
    """A cluster on which `rbd` ends with a status; `pools` lists the contents of its pools."""

    client, name = "client.replay2", "primary"

    def __init__(self, conf: Path, status: int = 0) -> None:
        self.conf, self.status = conf, status

    def run(self, *words: str, **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(words, self.status, "", f"rbd: listing images failed: ({self.status}) x\n")


class Silent(Denying):
    """A cluster whose monitors answer, but whose OSDs do not answer this user."""

    def run(self, *words: str, timeout_seconds: float, **_: object) -> subprocess.CompletedProcess[str]:
        raise CephCommandError(f"no answer within {timeout_seconds:g} s", where=" ".join(words))


def test_a_user_whom_no_osd_answers_gets_the_advice_of_another_user_and_is_asked_nothing_more(
    load: Load, tmp_path: Path
) -> None:
    findings = Findings()
    pool_checks._check_reading(Pool("replay"), Silent(tmp_path / "ceph.conf"), findings)
    preflight_checks.check_stop_switch(load(), None, findings)
    (item,) = findings.items
    assert item.level == "refused"
    assert "client.replay2 cannot list replay: no answer within 10 s" in item.text
    assert "this user has other caps; give Replay a user of its own" in item.text


@pytest.mark.parametrize(("status", "caps"), [(1, True), (13, True), (110, False)])
def test_if_a_user_cannot_list_the_pool_the_advice_is_another_user(tmp_path: Path, status: int, caps: bool) -> None:
    findings = Findings()
    pool_checks._check_reading(Pool("replay"), Denying(tmp_path / "ceph.conf", status), findings)
    (item,) = findings.items
    assert (item.level, item.commands) == ("refused", ())
    assert ("this user has other caps; give Replay a user of its own" in item.text) == caps


@pytest.mark.parametrize(
    ("applications", "objects", "commands", "said"),
    [
        ({}, 0, 1, "is not initialised for block devices"),
        ({}, 3, 0, "holds 3 objects: name a separate pool"),
        ({"cephfs": {}}, 0, 0, "belongs to cephfs: name a separate pool"),
        ({"rbd": {}, "cephfs": {}}, 7, 0, None),
    ],
)
def test_only_an_empty_pool_without_an_application_is_initialised(
    tmp_path: Path, applications: dict[str, object], objects: int, commands: int, said: str | None
) -> None:
    findings, found = Findings(), {"application_metadata": applications}
    cluster = Cluster(tmp_path / "ceph.conf")
    pool_checks._check_application(cluster, Pool("replay"), found, objects, False, findings)
    assert len(findings.commands()) == commands
    assert [said in item.text for item in findings.items] == ([] if said is None else [True])


def test_an_empty_data_pool_without_an_application_is_named_as_that(tmp_path: Path) -> None:
    findings, found = Findings(), {"application_metadata": {}}
    pool_checks._check_application(Cluster(tmp_path / "ceph.conf"), Pool("replay-ec"), found, 0, True, findings)
    (item,) = findings.items
    assert (item.level, item.commands) == ("refused", ())
    assert item.text.startswith("pool replay-ec is empty and has no application")
    assert item.text.endswith("an administrator runs: ceph osd pool application enable replay-ec rbd")


def test_each_experiment_says_what_it_can_do_and_why_not(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    estimates = {"rbd-journaling": {"cells": 100, "hours": 2.5, "bytes_to_client": 2**31, "bytes_to_media": 2**33}}
    monkeypatch.setattr(preflight, "_figures", lambda *_: estimates)
    site = load(allows="[]")
    report = preflight.preflight(site, preflight.load_experiments(), scale="talk")
    rows = {row["name"]: row for row in report.experiments}
    assert rows["failover"]["missing"] == {"second_site": "the site's file does not allow it"}
    skipped = {v["name"] for v in rows["rbd-journaling"]["variants"] if v["missing"]}
    assert skipped == {"journal-mirrored", "snapshot-mirrored"}
    assert "100 cells, about 2.5 h, 2.0 GiB to the clients, 8.0 GiB to media" in text_of(report)
    assert report.public()["measuring"] == "refused"


def _on_a_bare_site(load: Load, experiments: list[dict[str, Any]], lacking: dict[str, str]):
    """The rows of experiments on a site that allows nothing, and the report; each would take an hour."""
    site, findings = load(allows="[]"), Findings()
    figures = {"cells": 24, "hours": 1.0, "bytes_to_client": 2**31, "bytes_to_media": 2**33}
    rows = [preflight._experiment(site, one, lacking, figures) for one in experiments]
    return rows, text_of(preflight.Report(site, findings, rows))


def test_an_experiment_that_must_read_the_osds_counters_is_not_called_possible_without_them(load: Load) -> None:
    experiments = preflight.load_experiments(["amplification", "rbd-bench"])
    (row, other), said = _on_a_bare_site(load, experiments, {preflight_checks.OSD_COUNTERS: "denied"})
    assert (row["missing"], row["estimate"]) == ({"osd_counters": "denied"}, {})
    assert other["missing"] == {}
    assert "cannot be measured here: osd_counters: denied" in said
    assert "All of it: 24 cells" in said, "the other one alone"
    (row, _), _ = _on_a_bare_site(load, experiments, {})
    assert row["missing"] == {} and row["estimate"]["cells"] == 24


def test_an_experiment_on_the_copy_is_not_called_possible_where_nobody_can_ask_the_mirror_daemon(load: Load) -> None:
    (experiment,), site = preflight.load_experiments(["mirror-lag"]), load()
    row = preflight._experiment(site, experiment, {}, {"cells": 24})
    assert "names no admin socket of the mirror daemon" in row["missing"]["second_site"]
    assert row["estimate"] == {}


def test_an_experiment_of_which_no_variant_can_be_measured_says_so(load: Load) -> None:
    _, said = _on_a_bare_site(load, preflight.load_experiments(["baseline"]), {})
    text = said.partition("baseline: ")[2]
    assert "no variant can be measured here\n    skipped: Random reads: host_root: " in text
    assert "can be measured: " not in text


def test_only_the_experiments_that_are_named_are_reckoned(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    load()
    words = ["preflight", "--site", "mine", "--scale", "quick", "--json"]
    assert main([*words, "--experiment", "rbd-bench", "--experiment", "baseline"]) == 4
    rows = json.loads(capsys.readouterr().out)["experiments"]
    assert [row["name"] for row in rows] == ["rbd-bench", "baseline"]
    assert rows[0]["estimate"]["cells"] > 0
    assert main([*words, "--experiment", "rbd-bensh"]) == 2
    assert "rbd-bench" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "poll_age", "said"),
    [
        ([], 5, "skip: the first cluster's pool has no peer yet, and takes no mirror snapshot without one"),
        (["north"], 5, "ok: the pools of both clusters have their peers"),
        (["north"], 5, "note: rbd_mirror_journal_poll_age is 5 s by the second cluster's configuration"),
        (["north"], None, "is not told to client.replay, so no cell records it; the command that preflight prints"),
        (["north"], 5, "note: the second cluster is 20.3 ms away: a TCP round trip"),
    ],
)
def test_the_peers_of_both_clusters_the_poll_age_in_use_and_the_distance_are_said(
    load: Load, monkeypatch: pytest.MonkeyPatch, first: list[str], poll_age: float | None, said: str
) -> None:
    site = load()
    assert site.secondary is not None

    class Session:
        cluster = site.secondary

        def status(self, **_: float) -> Any:
            return fixture_json("release-16", "right-status.json")

        def command(self, asked: dict[str, str], **_: float) -> Any:
            if asked["prefix"] == "auth ls" or (asked["prefix"], poll_age) == ("config get", None):
                raise CephCommandError("error 13: access denied", where=asked["prefix"], exit_status_of_tool=13)
            return {"osd pool ls": ["replay"], "config get": poll_age}.get(asked["prefix"], {})

    def printed(self: Cluster, *words: str, **_: float) -> dict[str, Any]:
        return {"mode": "image", "peers": first if self.name == "primary" else ["south"]} if "info" in words else {}

    monkeypatch.setattr(Cluster, "json", printed)
    monkeypatch.setattr(mirroring, "round_trip_seconds", lambda site: 0.0203)
    findings = Findings()
    mirroring.check_mirroring(site, Session(), findings)
    assert said in "\n".join(f"{item.level}: {item.text}" for item in findings.items)
    assert (findings.lacking().keys() == {"second_site"}) == (first == []), "nothing is mirrored without a peer"


@pytest.mark.parametrize(
    ("rows", "intervals"),
    [
        ([{"pool": "replay", "namespace": "-", "image": "-", "items": [{"interval": "5m"}]}], ["every 5m"]),
        ([{"pool": "-", "namespace": "-", "image": "-", "items": [{"interval": "1h"}]}], ["only schedules by pool"]),
        ([{"pool": "replay", "namespace": "theirs", "image": "-", "items": [{"interval": "1m"}]}], []),
        ([{"pool": "replay", "namespace": "-", "image": "tenant", "items": [{"interval": "1m"}]}], []),
        (None, []),
    ],
    ids=["of the pool", "of all pools", "of another namespace", "of one image", "none"],
)
def test_a_schedule_that_takes_snapshots_of_replays_images_as_well_is_named(
    load: Load, monkeypatch: pytest.MonkeyPatch, rows: list[Any] | None, intervals: list[str]
) -> None:
    def printed(self: Cluster, *words: str, **_: float) -> list[Any]:
        assert words[1:5] == ("mirror", "snapshot", "schedule", "ls")
        if rows is None:
            raise CephCommandError("printed no JSON: Expecting value", where="rbd")
        return rows

    monkeypatch.setattr(Cluster, "json", printed)
    findings = Findings()
    mirroring._check_schedule(load(), findings)
    assert [item.level for item in findings.items] == ["warning"] * len(intervals)
    assert all(each in item.text for each, item in zip(intervals, findings.items, strict=True))


@pytest.mark.parametrize(("hour", "said"), [(23, "open (22:00 to 06:00 Europe/Berlin)"), (12, "opens in 9.0 h")])
def test_the_time_window_is_reported(load: Load, hour: int, said: str) -> None:
    findings = Findings()
    preflight._risks(load(), findings, datetime(2026, 1, 10, hour, tzinfo=UTC))
    assert said in "\n".join(item.text for item in findings.items)


def test_an_unreachable_monitor_is_reported_within_a_minute(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = load()
    (tmp_path / "ceph.conf").write_text("[global]\nmon host = v2:127.0.0.1:1/0\nauth client required = none\n")
    (tmp_path / "keyring").write_text("")
    shipped, awaited = preflight_checks.TIMEOUT_SECONDS, []
    monkeypatch.setattr(preflight_checks, "TIMEOUT_SECONDS", shipped / 20)
    command = MonitorSession.command

    def counted(self: MonitorSession, asked: dict[str, Any], *, timeout_seconds: float = 30.0, **more: Any) -> Any:
        awaited.append(self._connect_timeout_seconds + timeout_seconds)
        return command(self, asked, timeout_seconds=timeout_seconds, **more)

    monkeypatch.setattr(MonitorSession, "command", counted)
    report = preflight.preflight(site, [])
    assert 0 < 20 * sum(awaited) < 60, "each question waits no longer than that"
    assert report.exit_status == 4
    assert any("no monitor answered at v2:127.0.0.1:1/0" in item.text for item in report.findings.items)
    assert report.findings.commands() == []


@pytest.mark.parametrize(
    ("written", "left", "level", "said"),
    [
        (0, 5, "ok", "the run night has written 0 of 10 GiB to media"),
        (4, 7, "note", "has written 4 of 10 GiB to media and needs about 7 GiB more: it will stop at the ceiling"),
        (10, 0, "refused", "has written 10 of 10 GiB to media: raise the ceiling, or start a new run"),
    ],
)
def test_the_bytes_written_by_the_run_are_compared_with_its_ceiling(
    load: Load, written: int, left: int, level: str, said: str
) -> None:
    site = replace(load(), ceilings=Ceilings(bytes_written_to_media_per_run=10 << 30))
    fsid = "11111111-2222-3333-4444-555555555555"
    if written:
        WriteBudget.of(fsid, "mine", "night").charge("an earlier night", written << 30)
    findings = Findings(fsid=fsid)
    pool_checks.check_account(site, "night", left << 30, findings)
    (item,) = findings.items
    assert (item.level, said in item.text) == (level, True), item.text
