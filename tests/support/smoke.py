"""Checks that hold for every experiment at smoke scale, whichever test measures it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

import yaml

from replay.cluster.site import missing
from replay.cluster.site_file import load_site
from replay.design.configuration import load_experiment
from replay.design.expansion import expand
from support.campaign import Campaign
from support.datasets import rows_of
from support.patience import patient

#: Protocols that run an image's clients at their peak for seconds, in which a smoke run needs no peak. Others are
#: refused at a rate, or take long with it: a run that measures one of them, too, has none.
AT_A_RATE = (
    *("device_class", "fio_profile", "journal_clients", "multi_client", "offered_rate", "single_tool"),
    *("snapshot_interval", "write_latency"),
)
RATE_BYTES_PER_SECOND = 2 << 20


#: How often a run is repeated, as it advises, while a busy machine disturbs the line between the sites.
MOST_RUNS = 5


class Smoke(NamedTuple):
    """The output of measuring, and the requirements that this machine does not meet: (word, reason)."""

    said: str
    lacking: list[tuple[str, str]]


def measure_as_shipped(
    campaign: Campaign, *names: str, meanwhile: Callable[[], None] | None = None, **more: Any
) -> Smoke:
    """Measure experiments at smoke scale in one run, and assert that each is derived, described and explained.

    `more` changes the first one's scale, to measure cells beside those that ship; each that ships must be among them.
    `meanwhile` looks at the run while it measures. Nothing that Replay made is left on the clusters, and raw output
    names no place. Where this machine lacks what an experiment requires, nothing of it is measured, and the run and the
    data say why.
    """
    shipped = {name: load_experiment(name) for name in names}
    at_a_rate = all(one["protocol"] in AT_A_RATE for one in shipped.values())
    campaign.rate_bytes_per_second = RATE_BYTES_PER_SECOND if at_a_rate else None
    for name, one in shipped.items():
        campaign.configure(name, **(more if name == names[0] else {}))
        configured = yaml.safe_load(campaign.configuration_of(name).read_text())
        assert cells(one) <= cells(configured), "every cell that ships is measured"
    if meanwhile is None:
        done = measured(campaign, *names)
        status, said = done.returncode, done.stdout + done.stderr
    else:
        run = campaign.start(*names)
        meanwhile()
        said, _ = run.communicate(timeout=patient(300 * len(names)))
        status = run.returncode
    assert status == 0, said
    # Measuring ends with deriving, which reports its failures.
    assert "ended with status" not in said, said
    assert campaign.owned() == []
    with mock.patch.dict(os.environ, {"REPLAY_SANDBOX_DIR": str(campaign.sandbox_directory)}):
        site = load_site("sandbox")
        lacking = {name: missing(one.get("requires", ()), site) for name, one in shipped.items()}
    for name, reasons in lacking.items():
        if reasons:
            assert_skipped(campaign, name, reasons, said)
            continue
        assert "the runner's own cost" in said
        skipped = [one["requires"] for one in described(campaign, name)["skipped"]]
        # Replay may set a sandbox's poll age, so the variant for other clusters is not measured there.
        assert set(skipped) <= {"stretch", "no_osd_config"}, "a sandbox lacks nothing but the other shape"
        assert_every_cell_is_used_or_explained(campaign, name)
        assert_evidence_names_no_place(campaign, name)
    return Smoke(said, [reason for reasons in lacking.values() for reason in reasons])


def measured(campaign: Campaign, *names: str) -> subprocess.CompletedProcess[str]:
    """Measure the experiments, and go on with what is missing if a block ended because the line was not as asked."""
    for _ in range(MOST_RUNS):
        done = campaign.measure(*names)
        if done.returncode == 0 or "the line between the sites is not as asked" not in done.stdout + done.stderr:
            break
    return done


def assert_skipped(campaign: Campaign, name: str, reasons: list[tuple[str, str]], said: str) -> None:
    """Assert that nothing of an experiment was measured, and that the run and the data give the reasons."""
    for word, reason in reasons:
        assert f"{name}: all of it is skipped, because it needs {word}: {reason}" in said
    found = described(campaign, name)
    assert [(one["requires"], one["detail"]) for one in found["skipped"] if one["variant"] is None] == reasons
    assert (found["cells"], found["charts"], campaign.sidecars(name)) == (0, {}, [])


def assert_every_cell_is_used_or_explained(campaign: Campaign, name: str) -> None:
    """Assert that each cell has a valid measurement, each void one a reason, and that each chart is drawn."""
    data_set = campaign.raw(name).parents[1]
    rows = rows_of(data_set / name / "tidy.csv")
    used = [row for row in rows if row["used"] == "1"]
    assert len(used) == described(campaign, name)["cells"], "each cell has a valid measurement"
    assert all(row["invalid_reason"] for row in rows if row["valid"] != "1"), "each void cell is explained"
    charts = described(campaign, name)["charts"]
    assert charts
    assert [chart["path"] for chart in charts.values() if not (data_set / chart["path"]).exists()] == []


def assert_evidence_names_no_place(campaign: Campaign, name: str) -> None:
    """Assert that raw output, which people share, has neither this machine's name, as tools print it, nor its paths."""
    host, evidence = os.uname().nodename, campaign.evidence(name)
    of_tools = (f"<{host}>", f"{host}:", f"benchmark_data_{host}", "/tmp/", "replay-fio")
    assert [word for word in (str(campaign.sandbox_directory), *of_tools) if word.encode() in evidence] == []


def described(campaign: Campaign, name: str) -> dict[str, Any]:
    """Return what the manifest says of an experiment."""
    return json.loads((campaign.raw(name).parents[1] / "manifest.json").read_text())["experiments"][name]


def cells(configuration: dict[str, Any]) -> set[str]:
    """Return the identities of an experiment's cells at smoke scale."""
    return {cell.cell_id for one in expand(configuration, "smoke").sets for cell in one.cells}
