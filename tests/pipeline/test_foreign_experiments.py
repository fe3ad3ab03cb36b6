"""Every experiment with restricted users, on clusters that Replay did not start: for `npm run test:releases` alone."""

from __future__ import annotations

import os
from unittest import mock

import pytest

from replay.cluster.site_file import load_site
from replay.design.configuration import experiment_names
from replay.preflight.plan import design_for
from replay.sandbox import load
from support.administrator import administrator_of
from support.cluster_snapshot import difference, snapshot
from support.evidence import evidence_of
from support.foreign import foreign_site, measure_as_foreign
from support.releases import RELEASE
from support.smoke import assert_every_cell_is_used_or_explained, described
from support.telling_names import names_of, names_told

pytestmark = [pytest.mark.of_release, pytest.mark.slow, pytest.mark.xdist_group("experiments of restricted users")]

USER = "client.replay-foreign"
#: The words crush, osd_config and daemon_stop change nothing: they are refused on such a cluster.
ALLOWED = "second_site, pool_create, pool_delete, host_root, client_hosts, crush, osd_config, daemon_stop"


@pytest.fixture(scope="module")
def site(sandbox_directory, tmp_path_factory):
    """The text of a site's file whose users were made by the commands that preflight prints for it."""
    sandbox, folder = load(sandbox_directory), tmp_path_factory.mktemp("foreign")
    more = ("client_hosts: [localhost]", f"client_release: {RELEASE}", f"allows: [{ALLOWED}]")
    yield foreign_site(sandbox, folder, USER, more)
    for name in sandbox.clusters:
        administrator_of(sandbox, name).run("ceph", "auth", "rm", USER)


@pytest.fixture
def foreign(campaign, site):
    """A campaign whose measuring code sees no sandbox."""
    measure_as_foreign(campaign, site)
    return campaign


def both(campaign):
    return {name: snapshot(campaign.cluster(name)) for name in ("left", "right")}


@pytest.mark.parametrize("name", experiment_names())
def test_restricted_users_measure_it_or_are_told_why_not_and_leave_no_trace(foreign, name):
    foreign.configure(name)
    with mock.patch.dict(os.environ, {k: foreign.environment[k] for k in ("REPLAY_CONFIG", "REPLAY_SANDBOX_DIR")}):
        design = design_for(load_site("foreign"), name, "smoke")
    before = both(foreign)
    done = foreign.measure(name)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)  # what an operator sees: pytest -rP shows it
    assert [difference(before[side], one) for side, one in both(foreign).items()] == [[], []]
    derived = foreign.run("derive", "--data", "trial")
    assert derived.returncode == 0, derived.stdout + derived.stderr
    told = described(foreign, name)
    assert (
        names_told(foreign.folder / "benchmarks", names_of(load(foreign.sandbox_directory), USER, foreign.folder)) == []
    )
    foreseen = design.public()["skipped"]
    assert told["skipped"][: len(foreseen)] == foreseen, "the reasons are in the data"
    refused = {one["variant"] for one in told["skipped"][len(foreseen) :] if one["requires"] == "osd_counters"}
    assert len(told["skipped"]) == len(foreseen) + len(refused)
    assert refused == ({one.name for one in design.variants} if name == "amplification" else set())
    if refused:
        assert "amplification is skipped: no OSD returns its counters" in done.stdout
        assert [path for path in evidence_of(foreign.raw(name)) if path.endswith("result.json")] == []
    elif design.sets:
        assert_every_cell_is_used_or_explained(foreign, name)
    else:
        assert (told["cells"], told["charts"]) == (0, {})
