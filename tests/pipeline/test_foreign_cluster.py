"""A cluster that the measuring code knows only through a site's file and a restricted user, with neighbours."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from replay.ownership.pools import await_clean
from replay.sandbox import load
from support.administrator import administrator_of, delete_pool, session_of, site_text, tell
from support.cluster_snapshot import difference, snapshot
from support.foreign import USER, neighbours
from support.patience import patient, wait_until
from support.programs import freeze, kill_together
from support.releases import RELEASE
from support.telling_names import names_of, names_told

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.of_release,
    pytest.mark.xdist_group("neighbours of a foreign cluster"),
]


@pytest.fixture(scope="module")
def keyrings(sandbox_directory, tmp_path_factory):
    """The user that preflight requests, on both clusters, and neighbours' pool, images, user, configuration and key."""
    folder = tmp_path_factory.mktemp("keyrings")
    clusters = administrators(sandbox_directory)
    with neighbours(clusters["left"], clusters["right"], folder):
        yield folder


def administrators(directory):
    sandbox = load(directory)
    return {name: administrator_of(sandbox, name) for name in sandbox.clusters}


@pytest.fixture
def foreign(bench, keyrings, tmp_path):
    """A bench whose measuring code sees no sandbox: copied confs, a restricted user, and separate state."""
    sandbox = load(bench.sandbox_directory)
    confs = tmp_path / "etc"
    confs.mkdir()
    for name, cluster in sandbox.clusters.items():
        shutil.copy(cluster.conf, confs / f"{name}.conf")
    text = site_text(
        *(sandbox, "foreign", USER, keyrings, f"client_release: {RELEASE}", "allows: [second_site]"),
        f"ceilings: {{rate_bytes_per_second: {bench.rate_bytes_per_second}}}",
    )
    for name, cluster in sandbox.clusters.items():
        text = text.replace(str(cluster.conf), f"{confs}/{name}.conf")
    (bench.folder / "config" / "sites" / "foreign.yaml").write_text(text)
    bench.design["variants"].append(
        {
            "name": "journal-mirrored",
            "label": "Journal mirrored",
            "features": ["journaling"],
            "mirroring": "journal",
            "requires": ["second_site"],
        }
    )
    bench.design["variants"].append(
        {
            "name": "snapshot-mirrored",
            "label": "Snapshot mirrored",
            "mirroring": "snapshot",
            "requires": ["second_site"],
        }
    )
    bench.design["scales"]["smoke"]["factors"]["io_size_bytes"] = [65536]
    bench.design["snapshot_interval_seconds"] = 0.5
    bench.write_config()
    bench.sandbox_directory_seen = tmp_path / "no-sandbox-here"
    return bench


def both(bench):
    return {name: snapshot(cluster) for name, cluster in administrators(bench.sandbox_directory).items()}


def changes(before, after):
    return {name: difference(before[name], after[name]) for name in before}


def test_a_restricted_user_measures_a_signed_plan_and_leaves_no_trace_and_no_name(foreign):
    before = both(foreign)
    foreseen = foreign.run("preflight", "--site", "foreign", "--scale", "smoke")
    assert foreseen.returncode == 0, foreseen.stdout + foreseen.stderr
    assert changes(before, both(foreign)) == {"left": [], "right": []}, "it only reads"
    written = foreign.run("measure", *foreign.measure_arguments("tiny", site="foreign"), "--plan-only")
    assert written.returncode == 0, written.stdout + written.stderr
    (plan,) = foreign.folder.glob("trial-*.plan.md")
    with plan.open("a") as file:
        file.write("Approved.\n")
    assert changes(before, both(foreign)) == {"left": [], "right": []}, "a plan is only written"
    done = foreign.run("measure", "--plan", str(plan))
    assert done.returncode == 0, done.stdout + done.stderr
    # What an operator sees: pytest -rP shows it.
    print(foreseen.stdout, plan.read_text(), done.stdout, sep="\n")
    assert changes(before, both(foreign)) == {"left": [], "right": []}
    names = names_of(load(foreign.sandbox_directory), USER, foreign.folder)
    assert names_told(foreign.folder / "benchmarks", names) == []
    sidecars = {one["variant"]: one for one in foreign.sidecars("tiny") if one["variant"].endswith("mirrored")}
    journal, snapshots = sidecars["journal-mirrored"], sidecars["snapshot-mirrored"]
    assert journal["facts"]["replayed_bytes"] > 0
    assert journal["waits"][-1]["outcome"] == "replayed"
    assert snapshots["facts"]["snapshots_taken"] >= 1
    assert snapshots["waits"][-1]["outcome"] == "copied"
    assert journal["limiter"] == "unknown", "of a foreign cluster this machine cannot say what limited it"
    assert journal["facts"]["caches"]["osd_caches"].startswith("kept")


def started(bench):
    """A run of its own that has sized its first cell. What it says is in a file."""
    with (bench.folder / "said").open("w") as said:
        process = subprocess.Popen(
            bench.command("measure", *bench.measure_arguments("tiny", site="foreign")),
            env=bench.environment, stdout=said, stderr=said, start_new_session=True,
        )  # fmt: skip

    def sized():
        assert process.poll() is None, f"the run ended before the test could do anything to it: {said_by(bench)}"
        return any("/round-" in name for name in bench.files())

    wait_until(sized, "the first cell's size", seconds=120)
    return process


def said_by(bench):
    return (bench.folder / "said").read_text()


def run_for_long(bench, **ceilings):
    """Give two cells 10 s each, and the site more ceilings."""
    bench.design["variants"] = [one for one in bench.design["variants"] if "mirroring" not in one]
    path = bench.folder / "config" / "sites" / "foreign.yaml"
    more = "".join(f"{name}: {value}, " for name, value in ceilings.items())
    path.write_text(path.read_text().replace("ceilings: {", f"ceilings: {{{more}"))
    bench.design["scales"]["smoke"]["target_seconds"] = 10
    bench.write_config()


def test_after_a_crash_only_things_in_the_ledger_are_left_and_clean_removes_them(foreign):
    before = both(foreign)
    process = started(foreign)
    kill_together(freeze(process.pid))
    process.wait(timeout=patient(60))
    ledgers = (foreign.folder / "state" / "ledger").glob("*.jsonl")
    named = {json.loads(line).get("name") for path in ledgers for line in path.read_text().splitlines()}
    new = [line for lines in changes(before, both(foreign)).values() for line in lines if "/images/" in line]
    assert new, "the crash left images behind, or this test proves nothing"
    assert all(any(name and f"/{name}" in line for name in named) for line in new)
    cleaned = foreign.run("clean", "--site", "foreign", "--yes")
    assert cleaned.returncode == 0, cleaned.stdout + cleaned.stderr
    assert changes(before, both(foreign)) == {"left": [], "right": []}


def test_a_run_ends_at_new_trouble_with_block_devices_and_ignores_that_of_others(foreign):
    left = administrators(foreign.sandbox_directory)["left"]
    for pool in ("files-meta", "files-data"):
        tell(left, "osd pool create", pool=pool, pg_num=8)
    tell(left, "fs new", fs_name="files", metadata="files-meta", data="files-data")  # no MDS serves it
    try:
        await_clean(session_of(left), ["files-meta", "files-data"])
        wait_until(lambda: "MDS_ALL_DOWN" in tell(left, "health")["checks"], "the file system's trouble")
        before = both(foreign)
        run_for_long(foreign)
        process = started(foreign)
        tell(left, "osd set-nearfull-ratio", ratio=0.00001)
        assert process.wait(timeout=patient(120)) == 4, said_by(foreign)
    finally:
        tell(left, "osd set-nearfull-ratio", ratio=0.85)
        tell(left, "fs rm", fs_name="files", yes_i_really_mean_it=True)
        for pool in ("files-meta", "files-data"):
            delete_pool(left, pool)
    assert "NEARFULL" in said_by(foreign) and "MDS" not in said_by(foreign)
    gone = {
        name: [line for line in lines if "/files" not in line] for name, lines in changes(before, both(foreign)).items()
    }
    assert not [line for lines in gone.values() for line in lines if "/images/" in line]
    wait_until(lambda: "OSD_NEARFULL" not in tell(left, "health")["checks"], "the ratio to count again")


def test_a_run_ends_when_the_other_users_of_the_cluster_wait_for_it(foreign):
    before = both(foreign)
    run_for_long(foreign, tenant_latency_seconds=0.0005)
    done = foreign.measure("tiny", site="foreign")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "ms; the site allows 0 ms" in done.stdout
    assert changes(before, both(foreign)) == {"left": [], "right": []}


def test_an_administrator_ends_a_run_and_it_starts_again_only_when_allowed(foreign):
    left = administrators(foreign.sandbox_directory)["left"]
    before, reason = both(foreign), foreign.folder / "reason"
    reason.write_text("backups run until six")
    run_for_long(foreign)
    try:
        process = started(foreign)
        held = left.run("rados", "--pool", "replay", "lock", "list", "replay-lock").stdout
        assert '"name": "replay"' in held or '"name":"replay"' in held, held
        left.run("rados", "--pool", "replay", "put", "replay-stop", str(reason))
        assert process.wait(timeout=patient(120)) == 4, said_by(foreign)
        assert "an administrator has stopped Replay here" in said_by(foreign)
        assert "backups run until six" in said_by(foreign)
        again = foreign.measure("tiny", site="foreign")
        assert again.returncode == 4 and "backups run until six" in again.stdout
        refused = foreign.run("preflight", "--site", "foreign", "--scale", "smoke")
        assert refused.returncode == 4 and "rados --pool replay rm replay-stop" in refused.stdout
    finally:
        left.run("rados", "--pool", "replay", "rm", "replay-stop", check=False)
    assert changes(before, both(foreign)) == {"left": [], "right": []}
    assert "replay-lock" not in left.run("rados", "--pool", "replay", "ls").stdout
