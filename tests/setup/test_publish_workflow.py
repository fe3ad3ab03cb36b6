"""The workflow that publishes the site: what it runs exists, and it may do no more than it needs."""

import json
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "publish.yml"


@pytest.fixture(scope="module")
def workflow() -> dict:
    return yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))


def steps_of(workflow: dict) -> list[dict]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_every_command_is_an_npm_script(workflow: dict) -> None:
    scripts = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["scripts"]
    commands = [step["run"] for step in steps_of(workflow) if "run" in step]
    assert commands
    for command in commands:
        name = re.fullmatch(r'npm run ([a-z:]+)(?: -- --talk [a-z-]+| -- --since "\$BEFORE")?', command)
        assert name, command
        assert name[1] in scripts, command


def test_no_command_is_made_of_what_others_write(workflow: dict) -> None:
    """Names of branches and titles are anybody's: they reach a command through the environment or not at all."""
    for step in steps_of(workflow):
        assert "${{" not in step.get("run", "")
    expressions = re.findall(r"\$\{\{\s*(.+?)\s*\}\}", WORKFLOW.read_text(encoding="utf-8"))
    assert set(expressions) == {
        "github.event.before",
        "steps.pages.outputs.base_url",
        "steps.deployment.outputs.page_url",
        "github.server_url",
        "github.repository",
    }


def test_each_job_has_only_the_rights_that_it_needs(workflow: dict) -> None:
    assert workflow["permissions"] == {}
    rights = {name: job["permissions"] for name, job in workflow["jobs"].items()}
    assert rights == {
        "check": {"contents": "read"},
        "golden": {"contents": "read"},
        "build": {"contents": "read", "pages": "read"},
        "deploy": {"pages": "write", "id-token": "write"},
    }
    for step in steps_of(workflow):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_actions_are_githubs_own_by_version(workflow: dict) -> None:
    used = [step["uses"] for step in steps_of(workflow) if "uses" in step]
    assert {name.split("@")[0] for name in used} == {
        "actions/checkout",
        "actions/setup-node",
        "actions/configure-pages",
        "actions/upload-pages-artifact",
        "actions/deploy-pages",
    }
    for name in used:
        assert re.fullmatch(r"actions/[a-z-]+@v\d+", name), name


def test_nothing_is_published_that_did_not_pass_the_checks(workflow: dict) -> None:
    jobs = workflow["jobs"]
    assert set(jobs["deploy"]["needs"]) == {"check", "build"}
    checks = {f"npm run check -- --talk {talk.parent.name}" for talk in (ROOT / "slides").glob("*/talk.yaml")}
    assert {step.get("run") for step in jobs["check"]["steps"]} >= {*checks, "npm run test:quick"}
    # PyYAML reads the key `on` as the truth value.
    assert set(workflow[True]) == {"push", "workflow_dispatch"}
    assert workflow[True]["push"] == {"branches": ["main"]}
    assert workflow["concurrency"]["cancel-in-progress"] is False
    for job in jobs.values():
        assert job["timeout-minutes"] <= 30


def test_the_folder_that_the_build_writes_is_uploaded(workflow: dict) -> None:
    build = (ROOT / "scripts/build.mjs").read_text(encoding="utf-8")
    written = re.search(r'out: \{ type: "string", default: "([^"]+)" \}', build)
    upload = [s for s in workflow["jobs"]["build"]["steps"] if s.get("uses", "").startswith("actions/upload-pages")]
    assert written
    assert [step["with"]["path"] for step in upload] == [written[1]]


def test_the_node_is_one_that_runs_replay(workflow: dict) -> None:
    engines = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["engines"]["node"]
    oldest = int(re.fullmatch(r">=(\d+)\.\d+", engines)[1])
    wanted = [
        s["with"]["node-version"] for s in steps_of(workflow) if s.get("uses", "").startswith("actions/setup-node")
    ]
    assert wanted
    assert all(int(version) >= oldest for version in wanted)
