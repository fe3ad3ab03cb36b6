"""Resealing refuses what is no copy and what nobody measured; if it is cut short, altered data stay marked."""

import multiprocessing
import os
import shutil
from pathlib import Path

import pytest

from replay.base.errors import ConfigurationError, EvidenceError, ReplayError
from replay.base.paths import ROOT
from replay.claims.workflow.dataset import derive_data_set
from replay.cli.derive_command import main
from replay.derive.reseal import SHIPPED, reseal
from replay.design.plan_file import PlanFile
from replay.evidence.copies import ALTERED, read_stamp
from replay.measure import block
from replay.measure import command as measure
from replay.preflight.plan import plans
from support.datasets import (
    POINT,
    STDOUT,
    append_raw,
    content_of,
    copied,
    digests,
    manifest_of,
    measured,
    pack_of,
    put_back,
    remove,
)
from support.evidence import pack_again
from support.patience import patient


def refused(data_set, error=ConfigurationError):
    before = digests(data_set) if data_set.exists() else None
    with pytest.raises(error) as raised:
        reseal(data_set)
    assert before is None or digests(data_set) == before
    assert raised.value.next_step
    return raised.value


def test_an_original_is_refused_with_how_to_make_a_copy(copy, capsys):
    original = copy.with_name("mine")
    append_raw(original)
    assert "an original" in refused(original).what
    assert main(["--reseal", "mine"]) == 2
    assert f"cp -r {original} {original}-altered" in capsys.readouterr().err


def test_the_data_set_that_ships_is_refused_whatever_its_campaign_says(copy):
    append_raw(copy)
    copy.rename(copy.with_name(SHIPPED))
    assert "an original" in refused(copy.with_name(SHIPPED)).what


@pytest.mark.parametrize("text", [None, "{}", '{"data_set": 1}'])
def test_a_folder_whose_campaign_does_not_show_that_it_is_a_copy_is_refused(copy, text):
    append_raw(copy)
    (copy / "campaign.json").unlink()
    if text is not None:
        (copy / "campaign.json").write_text(text)
    assert "campaign.json" in refused(copy).what


def test_a_missing_data_set_is_refused_with_the_command_that_makes_it(copy):
    error = refused(copy.with_name("none"), EvidenceError)
    assert f"cp -r {copy.with_name(SHIPPED)} {copy.with_name('none')}" in error.next_step


@pytest.mark.parametrize("linked", ["what-if-2", "what-if-2/rbd-journaling", "what-if-2/rbd-journaling/raw"])
def test_a_link_to_an_original_is_refused(copy, linked):
    link = copy.parent / linked
    if linked != "what-if-2":
        copied(copy, copy.with_name("what-if-2"))
        shutil.rmtree(link)
    original = copy.with_name("mine") / Path(linked).relative_to("what-if-2")
    link.symlink_to(original if linked != "what-if-2" else copy)
    append_raw(copy.with_name("mine"))
    assert "a link" in refused(copy.with_name("what-if-2")).what


@pytest.mark.parametrize("name", ["extra", "block-09-0123456789ab.tar.gz", "design-0123456789ab.json"])
def test_a_file_that_was_never_measured_is_refused_and_named(copy, name):
    append_raw(copy)
    path = copy / "rbd-journaling" / "raw" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("made up")
    assert refused(copy, EvidenceError).where == str(path)


@pytest.mark.parametrize("name", [f"block-01/{POINT}/attempt-1/extra.stdout", f"block-09/{POINT}/x.json"])
def test_a_file_in_a_pack_that_was_never_measured_is_refused_and_named(copy, name):
    pack = pack_of(copy, STDOUT)
    pack_again(pack, lambda member, content: content, added={name: b"made up"})
    assert refused(copy, EvidenceError).where == f"{pack}:{name}"


def test_a_file_that_is_no_longer_a_pack_is_refused_and_named(copy):
    pack = pack_of(copy, STDOUT)
    pack.write_bytes(b"nonsense")
    assert refused(copy, EvidenceError).where == str(pack)


def test_a_made_up_attempt_is_refused_and_one_in_progress_is_skipped(benchmarks):
    tree = measured(benchmarks / "mine", sealed=False)
    in_progress = tree.attempt(1, POINT, seal=False)
    copy = copied(benchmarks / "mine", benchmarks / "what-if")
    path = copy / tree.path(STDOUT.partition("/raw/")[2]).relative_to(benchmarks / "mine")
    path.write_text("")
    assert [one.path for one in reseal(copy)] == [STDOUT]
    folder = copy / in_progress.relative_to(benchmarks / "mine")
    folder.rename(folder.with_name("attempt-2"))
    assert "attempt-2" in refused(copy, EvidenceError).where


@pytest.mark.parametrize("further", [["--watch"], ["--experiment", "rbd-journaling"], ["--data", "what-if"]])
def test_reseal_takes_no_other_option(copy, capsys, further):
    append_raw(copy)
    with pytest.raises(SystemExit) as raised:
        main(["--reseal", "what-if", *further])
    assert raised.value.code == 2
    assert "--reseal" in capsys.readouterr().err
    assert not (copy / ALTERED).exists()


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A site for which measuring can make a plan, although nothing listens there."""
    config = tmp_path / "config"
    shutil.copytree(ROOT / "config", config)
    for name in ("ceph.conf", "keyring"):
        (config / "sites" / name).write_text("")
    (config / "sites" / "far.yaml").write_text(
        "name: far\nlabel: Far away\nlimitation: none\npools: { data: { name: replay } }\nallows: []\n"
        "cluster: { conf: ceph.conf, client: client.replay, keyring: keyring }\n"
    )
    monkeypatch.setenv("REPLAY_CONFIG", str(config))
    return "far"


def test_nothing_is_measured_into_an_altered_copy(copy, site, capsys):
    append_raw(copy)
    reseal(copy)
    assert measure.main(["--site", site, "--data", "what-if", "--dry-run"]) == 2
    said = capsys.readouterr().err
    assert str(copy / ALTERED) in said
    assert "Replay does not measure into altered data" in said
    assert "choose a new name with --data" in said
    assert measure.main(["--site", site, "--data", "fresh", "--dry-run"]) == 0


def test_nothing_is_measured_into_a_copy_that_was_measured_under_another_name(copy, site, capsys):
    assert measure.main(["--site", site, "--data", "what-if", "--dry-run"]) == 2
    said = capsys.readouterr().err
    assert "'mine'" in said
    assert "next: " in said


def test_nothing_is_planned_into_altered_data_and_a_job_with_an_older_plan_is_refused(copy, tmp_path, capsys):
    path = PlanFile("sandbox", "what-if", "quick", {}, {}, ()).write(tmp_path)
    append_raw(copy)
    reseal(copy)
    with pytest.raises(ConfigurationError, match="altered data"):
        plans("what-if", [])
    arguments = ["--plan-file", str(path), "--experiment", "x", "--block", "1", "--plan", "0"]
    assert block.main(arguments) == ConfigurationError.exit_status
    assert "altered data" in capsys.readouterr().out


def reseal_killed(data_set, writes):
    """Reseal in a process that dies, as if by SIGKILL, before it puts a file in place after `writes` others."""
    rename, left = os.rename, iter(range(writes))

    def dying(source, target):
        if next(left, None) is None:
            os._exit(9)
        return rename(source, target)

    def run():
        os.rename = dying
        reseal(data_set)

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join(patient(60))
    assert process.exitcode == 9


@pytest.mark.parametrize(("writes", "derived"), [(0, []), (1, []), (2, []), (3, ["other"]), (4, ["other"])])
def test_killed_in_the_middle_a_copy_is_unsealed_or_stamped(copy, writes, derived):
    shutil.copytree(copy / "rbd-journaling", copy / "other")
    append_raw(copy)
    append_raw(copy, STDOUT.replace("rbd-journaling", "other"))
    reseal_killed(copy, writes)
    assert (read_stamp(copy) is not None) == (writes > 0)
    with pytest.raises(ReplayError) as raised:
        derive_data_set(copy)
    assert "altered" in raised.value.what
    assert [path.parent.name for path in sorted(copy.glob("*/tidy.csv"))] == derived
    assert bool(manifest_of(copy)["altered"]) == (writes > 0)
    reseal(copy)
    derive_data_set(copy)
    assert [one.path for one in read_stamp(copy).files] == [STDOUT.replace("rbd-journaling", "other"), STDOUT]
    assert manifest_of(copy)["altered"] == {"copied_from": "mine", "files": 2}


def test_the_manifest_says_that_data_are_altered_before_the_first_table_changes(copy, monkeypatch):
    derive_data_set(copy)
    append_raw(copy)
    reseal(copy)
    seen = []

    def look(*_, **__):
        seen.append(manifest_of(copy)["altered"])
        raise EvidenceError("as far as this test goes")

    monkeypatch.setattr("replay.derive.experiment.derive_experiment", look)
    with pytest.raises(ReplayError, match="as far as this test goes"):
        derive_data_set(copy)
    assert seen == [{"copied_from": "mine", "files": 1}]


def test_killed_while_a_file_is_put_back_the_next_reseal_lists_it(copy):
    content = content_of(copy, STDOUT)
    remove(copy)
    reseal(copy)
    put_back(copy, content)
    reseal_killed(copy, 1)
    reseal(copy)
    derive_data_set(copy)
    assert content_of(copy, STDOUT) == content
