"""The short paths on a tool and on a look: the module that they show works, and what they name exists."""

from __future__ import annotations

import re
import types

import pytest
import yaml
from jsonschema import Draft202012Validator

from replay.base.paths import ROOT
from replay.tools import OutputError, Tool, render

TOOL_PAGE = (ROOT / "docs" / "my-tool.md").read_text()
LOOK_PAGE = (ROOT / "docs" / "my-look.md").read_text()
EXPERIMENT_PAGE = (ROOT / "docs" / "my-experiment.md").read_text()
SHORT_PATHS = [ROOT / "docs" / f"{name}.md" for name in ("from-fio-to-a-talk", "my-experiment", "my-tool", "my-look")]
LEVELS = {"io_type": "write", "io_pattern": "rand", "io_size_bytes": 4096}


@pytest.fixture
def tool():
    """The tool of the page's module."""
    (source,) = re.findall(r"```python\n(.*?)```", TOOL_PAGE, re.DOTALL)
    module = types.ModuleType("mybench")
    exec(compile(source, "docs/my-tool.md", "exec"), vars(module))
    (one,) = [value for value in vars(module).values() if isinstance(value, Tool)]
    return one


def test_the_tool_is_called_with_what_a_cell_has(tool):
    values = {"conf": "c", "client": "client.a", "pool": "p", "image": "i", "io_total_bytes": "8192", "seed": "1"}
    argv = render(tool.argv_template(LEVELS, {}), values)
    assert argv == [
        *("mybench", "--conf", "c", "--name", "client.a", "--do", "write", "--pattern", "rand"),
        *("--block", "4096", "--total", "8192", "p/i"),
    ]


def test_the_tool_reads_its_last_line(tool):
    result = tool.parse({"stdout": "warming up\n1000 operations in 2.50 s\n"}, 0, LEVELS)
    assert result.metrics == {
        "operations": 1000,
        "bytes": 4096000,
        "duration_seconds": 2.5,
        "operations_per_second": 400.0,
        "bytes_per_second": 1638400.0,
    }


@pytest.mark.parametrize(("text", "status"), [("", 0), ("1000 operations in 2.", 0), ("1000 operations in 2.50 s", 1)])
def test_the_tool_refuses_what_does_not_say_its_result(tool, text, status):
    with pytest.raises(OutputError, match="did not end with its result"):
        tool.parse({"stdout": text}, status, LEVELS, names={"stdout": "mybench.stdout"})


def test_a_run_that_ends_before_the_tools_clock_moves_is_repeated_with_more(tool):
    with pytest.raises(OutputError) as caught:
        tool.parse({"stdout": "16 operations in 0.00 s\n"}, 0, LEVELS)
    assert caught.value.reason == "too_short"


def test_the_colours_of_the_look_are_keys_of_a_talk():
    (colours,) = re.findall(r"```yaml\n(.*?)```", LOOK_PAGE, re.DOTALL)
    talk = re.findall(r"```yaml\n(.*?)```", EXPERIMENT_PAGE, re.DOTALL)[2]
    schema = yaml.safe_load((ROOT / "config" / "schemas" / "talk.schema.json").read_text())
    Draft202012Validator(schema).validate(yaml.safe_load(talk) | yaml.safe_load(colours))
    looks = schema["properties"]["series"]["propertyNames"]["enum"]
    assert all(f"`{look}`" in LOOK_PAGE for look in looks)


def test_the_tokens_of_the_look_exist():
    tokens = (ROOT / "css" / "tokens.css").read_text()
    named = re.findall(r"`(--[a-z-]+)`", LOOK_PAGE)
    assert named and [name for name in named if f"{name}:" not in tokens] == []
    styles = (ROOT / "deck" / "stage" / "chart-styles.js").read_text()
    looks = re.findall(r'^  (\w+): \{ color: "var\((--[a-z-]+)\)"', styles, re.MULTILINE)
    section = LOOK_PAGE.partition("in every chart:")[2].partition("Others")[0]
    assert re.findall(r"`([a-z]+)`", section) == [look for look, _ in looks]
    assert re.findall(r"`(--series-[a-z-]+)`", LOOK_PAGE) == [token for _, token in looks]


@pytest.mark.parametrize("page", SHORT_PATHS, ids=lambda path: path.stem)
def test_the_programs_that_a_path_runs_exist(page):
    text = page.read_text()
    files = re.findall(r"node (scripts/\S+\.mjs)", text) + re.findall(r"\bcss/[a-z-]+\.css\b", text)
    modules = [name.replace(".", "/") for name in re.findall(r"python -m (replay\.\S+)", text)]
    files += [f"scripts/{name}.py" for name in modules]
    assert [name for name in files if not (ROOT / name).exists()] == []
