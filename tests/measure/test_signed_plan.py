"""A plan to sign: complete, bound to its site and experiments, and refused once anything differs."""

from __future__ import annotations

import ast
import csv
import io
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from replay.base.errors import ConfigurationError, RefusedError
from replay.base.paths import ROOT
from replay.cli.cluster_commands import MEASURE
from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.cluster.site_file import load_site
from replay.measure import signed_plan
from replay.measure.run import _administrator, chosen, write_plan
from replay.measure.signed_plan import read_signed_plan
from replay.ownership.clean import write_change_record
from replay.ownership.ledger import Ledger
from replay.preflight.plan import CHANGES, JOURNALED, MIRRORED, changes_for

FSID = "0f3c1f9a-2f4e-4c3a-9a51-6a4f5c1d2e3b"
SITE = """\
name: mine
label: Mine
limitation: A test.
cluster: {conf: FOLDER/ceph.conf, client: client.replay, keyring: FOLDER/keyring}
pools: {data: {name: replay, pg_num: 8, replicas: 3}}
ceilings: {bytes_written_to_media_per_run: 8589934592, tenant_latency_seconds: 0.05}
time_window: {from: 22:00, to: 06:00, timezone: Europe/Berlin}
allows: []
"""
#: What only reads, and what is printed for an administrator: all that the code asks of Ceph besides CHANGES.
READS = """
auth ls, config dump, config get, df, fsid, health, mgr dump, osd count-metadata, osd crush rule dump, osd df, osd dump,
osd erasure-code-profile get, osd ls, osd lspools, osd map, osd perf, osd pool get, osd pool ls, osd tree, perf dump,
pg dump, pg dump_stuck, pg ls-by-pool, pg map, status, time-sync-status, versions, rbd device list, rbd info,
rbd journal status, rbd journal info, rbd ls, rbd status, rbd mirror image status, rbd mirror pool info,
rbd mirror pool status, rbd mirror snapshot schedule ls, rbd namespace ls, rbd snap ls, rbd trash ls, rados ls,
rados get, connect, config show
"""
EXPERIMENTS = ("--experiment", "rbd-journaling", "--experiment", "rbd-bench")
PRINTED = {"rados create", "rados rm"}


class NoAnswer(MonitorSession):
    """A session that knows at once what librados finds out after a second: no monitor answers."""

    def fsid(self) -> str:
        raise CephCommandError("cannot connect", where=self.cluster.name, next_step="start a monitor")


@pytest.fixture
def site_file(write_site: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site whose cluster does not exist, and a working folder."""
    monkeypatch.setattr(signed_plan, "MonitorSession", NoAnswer)
    (tmp_path / "ceph.conf").write_text(f"[global]\nfsid = {FSID}\nmon_host = [v2:127.0.0.1:1/0]\n")
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    monkeypatch.chdir(tmp_path)
    return write_site("mine", SITE.replace("FOLDER", str(tmp_path)))


@pytest.fixture
def plan(site_file: Path, tmp_path: Path) -> Path:
    """The plan of two experiments, made before the site has a keyring; now it has one."""
    write_plan(_chosen("--site", "mine", "--data", "night", "--scale", "smoke", *EXPERIMENTS, "--plan-only"))
    (tmp_path / "keyring").touch()
    (found,) = tmp_path.glob("night-*.plan.md")
    return found


def _chosen(*words: str):
    return chosen(MEASURE.parser().parse_args(list(words)))


def test_a_plan_says_what_is_measured_with_which_rights_and_limits_and_how_it_is_undone(plan: Path) -> None:
    text = plan.read_text()
    for part in (
        f"- primary cluster: {FSID}, as client.replay",
        "| rbd-journaling | ",
        "| all | ",
        "- pool replay: it exists, or an administrator makes it",
        "| bytes written to media | 8 GiB |",
        "| commit latency of the slowest OSD | 50 ms |",
        "| time window | 22:00 to 06:00 Europe/Berlin |",
        "Any slow operation ends the cell and the run.",
        "named `replay-<8 random hexadecimal digits>-…`",
        "every two seconds, or every eight without `python3-rados`",
        "`client.replay` with `mon 'profile rbd' osd 'profile rbd pool=replay' mgr 'profile rbd pool=replay'`",
        "osd pool create replay 8 8 replicated",
        "| `rbd create` | ",
        "rados --pool replay create replay-stop",
        "replay clean --site mine",
    ):
        assert part in text
    script = text.partition("```sh\n")[2].partition("\n```")[0]
    checked = subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_plan_without_commands_says_so_below_its_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("replay.measure.run.commands_in", lambda report: [])
    report = SimpleNamespace(findings=SimpleNamespace(items=[SimpleNamespace(level="refused", text="nobody answers")]))
    assert list(_administrator(None, report))[-3:] == ["- nobody answers", "", "No command is needed for the rest."]
    report.findings.items = []
    assert list(_administrator(None, report))[-2:] == ["", "No command is needed."]


def test_a_plan_with_nothing_to_undo_has_no_empty_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("replay.measure.run.commands_in", lambda report: ["apt-get install --yes iperf3"])
    monkeypatch.setattr("replay.measure.run.undo_in", lambda report: [])
    report = SimpleNamespace(findings=SimpleNamespace(items=[]))
    assert list(_administrator(None, report))[-3:] == ["```sh", "apt-get install --yes iperf3", "```"]


def test_a_signed_plan_is_measured_exactly(plan: Path) -> None:
    with plan.open("a") as file:
        file.write("Approved, M., 2026-11-23\n")
    run = _chosen("--plan", str(plan))
    asked = _chosen("--site", "mine", "--data", "night", "--scale", "smoke", *EXPERIMENTS)
    assert (run.plan.data_set, run.plan.scale, set(run.plan.blocks)) == ("night", "smoke", set(asked.plan.blocks))
    assert run.designs == asked.designs
    assert run.plan.locked_to and not asked.plan.locked_to


def test_a_plan_refuses_a_site_that_says_something_else(plan: Path, site_file: Path) -> None:
    text = site_file.read_text()
    site_file.write_text(text.replace("8589934592", "858993459200"))
    with pytest.raises(RefusedError, match=r"ceilings.bytes_written_to_media_per_run was 8589934592"):
        _chosen("--plan", str(plan))
    site_file.write_text(text.replace("name: replay,", "name: other,"))
    with pytest.raises(RefusedError, match=r"pools.data.name was 'replay' and is 'other'"):
        _chosen("--plan", str(plan))
    site_file.write_text(text.replace("label: Mine", "label: Ours"))
    assert _chosen("--plan", str(plan)).plan.blocks, "a label changes nothing"


def test_a_plan_refuses_an_experiment_that_has_changed(plan: Path, configuration: Path) -> None:
    path = configuration / "experiments" / "rbd-bench.yaml"
    raw = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump(raw | {"title": "Another title"}, sort_keys=False))
    assert _chosen("--plan", str(plan)).plan.blocks, "a title changes nothing"
    raw["scales"]["smoke"]["target_seconds"] = 77
    path.write_text(yaml.safe_dump(raw, sort_keys=False))
    with pytest.raises(RefusedError, match="what its site and this machine allow, has changed since the plan"):
        _chosen("--plan", str(plan))


@pytest.mark.parametrize("before", ["8 GiB", '"night"', "rbd create"])
def test_a_plan_that_was_altered_is_refused(plan: Path, before: str) -> None:
    text = plan.read_text()
    assert before in text
    plan.write_text(text.replace(before, "x", 1))
    with pytest.raises(RefusedError, match="the plan was altered after it was made"):
        read_signed_plan(plan)


def test_another_file_and_a_plan_of_another_version_are_refused(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replay.measure.signed_plan.version", lambda: "99")
    with pytest.raises(ConfigurationError, match=r"the plan was made by Replay .*, and this is 99"):
        read_signed_plan(plan)
    (tmp_path / "notes.md").write_text("# Notes\n")
    with pytest.raises(ConfigurationError, match="this is no plan"):
        read_signed_plan(tmp_path / "notes.md")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_signed_plan(tmp_path / "nowhere.md")


@pytest.mark.parametrize(
    "more", ["--data=other", "--scale=talk", "--experiment=rbd-bench", "--blocks=9", "--plan-only"]
)
def test_a_plan_takes_no_options_that_say_something_else(plan: Path, more: str) -> None:
    with pytest.raises(ConfigurationError, match="the plan says what is measured"):
        _chosen("--plan", str(plan), more)


def test_a_plan_needs_to_know_its_cluster(site_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signed_plan, "MonitorSession", MonitorSession)
    monkeypatch.setattr(signed_plan, "CONNECT_WITHIN_SECONDS", 0.1)
    (tmp_path / "ceph.conf").write_text("[global]\nmon_host = [v2:127.0.0.1:1/0]\n")
    run = _chosen(*["--site", "mine", "--scale", "smoke", "--experiment", "rbd-bench", "--plan-only"])
    with pytest.raises(ConfigurationError, match="a plan has to say which cluster it is for"):
        write_plan(run)


def test_commands_of_a_plan_are_those_that_its_words_and_variants_need() -> None:
    plain = {one.command for one in changes_for(())}
    assert "osd blocklist add" in plain, "any client can be killed"
    assert {"rbd create", "rbd rm", "fio"} <= plain
    assert not plain & {"osd pool create", "config set", "rbd mirror image enable", "rbd map"}
    assert "rbd mirror image enable" in {one.command for one in changes_for({MIRRORED})}
    assert {one.when for one in changes_for({JOURNALED, "pool_create"})} == {"always", JOURNALED, "pool_create"}


def test_every_command_in_the_code_is_in_the_list_of_changes_or_only_reads() -> None:
    known = {one.command for one in CHANGES} | {" ".join(one.split()) for one in READS.split(",")} | PRINTED
    called = {call for module in _modules() for call in _calls(module)}
    assert {"rbd create", "osd pool create", "rbd mirror image enable"} <= called, "the search finds commands"
    unknown = {call for call in called if not any(f"{call} ".startswith(f"{one} ") for one in known)}
    assert unknown == set()
    # The other way round, nothing is listed that no longer exists. These are put together elsewhere, or by librbd.
    elsewhere = {"rados lock", "fio", "rbd map", "rbd mirror image demote", "rbd mirror image promote"}
    elsewhere |= {"osd blocklist add"}
    listed = {one.command for one in CHANGES} - elsewhere
    assert {one for one in listed if not any(f"{call} ".startswith(f"{one} ") for call in called)} == set()


def _modules() -> Iterator[ast.Module]:
    """Yield the modules without the list itself."""
    for path in (ROOT / "scripts" / "replay").rglob("*.py"):
        if "sandbox" not in path.parts:
            module = ast.parse(path.read_text(encoding="utf-8"))
            module.body = [
                one
                for one in module.body
                if not (isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "CHANGES")
            ]
            yield module


def _calls(tree: ast.AST) -> Iterator[str]:
    """Yield commands to monitors and admin sockets, and the first words of calls of Ceph's programs and of mount."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "prefix" and isinstance(value, ast.Constant):
                    yield value.value
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "self._answer":  # of an admin socket
            yield from (str(part.values[0].value).strip() for part in node.args if isinstance(part, ast.JoinedStr))
        given = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.List | ast.Tuple) else []
        words = list(_words(given))
        if words and words[0] in ("rbd", "rados", "mount", "umount") and (call := _first(words)):
            yield call


def _words(given: list[ast.expr]) -> Iterator[str]:
    for one in given:
        if isinstance(one, ast.Starred) and isinstance(one.value, ast.Tuple | ast.List):
            yield from _words(one.value.elts)
        elif isinstance(one, ast.Starred) and ast.unparse(one.value).startswith("self._rados("):
            yield "rados"
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value
        else:
            yield ""


def _first(words: list[str]) -> str:
    """Return the program and its command: the words up to an option or a value, after options that come first."""
    program, rest = words[0], words[1:]
    if program in ("mount", "umount"):
        return program if rest else ""
    while rest and (rest[0] == "" or rest[0].startswith("-") or rest[0].startswith("{")):
        rest = rest[1:]
    found = []
    for word in rest:
        if not word.replace("-", "").isalpha() or word.startswith("-"):
            break
        found.append(word)
    return " ".join([program, *found]) if found else ""


def test_the_change_record_says_what_was_made_and_removed_and_when(site_file: Path) -> None:
    ledger = Ledger(FSID)
    ids = [
        ledger.intend(kind, "replay", "", name, site=site, data_set=data)
        for kind, name, site, data in (
            ("image", "replay-00000001-a", "mine", "night"),
            ("image", "replay-00000002-b", "mine", "night"),
            ("image", "replay-00000003-c", "mine", "other"),
            ("image", "replay-00000004-d", "theirs", "night"),
        )
    ]
    ledger.confirm(ids[0], {"id": "1"})
    ledger.removed(ids[0])
    out = io.StringIO()
    write_change_record(load_site("mine", check_files=False), out, data_set="night")
    rows = list(csv.DictReader(io.StringIO(out.getvalue())))
    assert [(row["cluster"], row["name"], row["state"]) for row in rows] == [
        (FSID, "replay/replay-00000001-a", "removed"),
        (FSID, "replay/replay-00000002-b", "perhaps there"),
    ]
    lines = [json.loads(line) for line in ledger.path.read_text().splitlines()]
    made, removed = (next(one["at"] for one in lines if one["event"] == event) for event in ("confirm", "removed"))
    assert (rows[0]["entered_at"], rows[0]["made_at"], rows[0]["removed_at"]) == (lines[0]["at"], made, removed)
    assert [one.id for one in ledger.owned()] == ids[1:]
