"""`replay new`: writes an example that works, to be edited, and says what to run next."""

from __future__ import annotations

import argparse
import os
import shlex

from replay.base.errors import ConfigurationError
from replay.base.invocation import replay_command
from replay.base.paths import ROOT, config_directory, project_directory, shown
from replay.cli.new_claim import new_claim
from replay.cli.new_slide import new_slide
from replay.cli.templates import Made, measuring, template, write_new
from replay.evidence import durable
from replay.tools import find_reader


def run(options: argparse.Namespace) -> int:
    """Write what was asked for and print the next steps; return 0. Raises ConfigurationError if it exists already."""
    made = _KINDS[options.what](options)
    write_new(project_directory(), made.texts)
    for path in made.texts:
        print(f"wrote {shown(path)}")
    for path, text in made.grown.items():
        durable.replace(path, text.encode())
        print(f"added {options.name} to {shown(path)}")
    print("\nnext: " + "\n      ".join(made.steps))
    return 0


def _experiment(options: argparse.Namespace) -> Made:
    path = config_directory() / "experiments" / f"{options.name}.yaml"
    steps = [f"make it your question: {shown(path)}", replay_command("new", "claim", options.name)]
    return Made({path: template("experiment.yaml", {"journal-threads": options.name})}, steps + measuring(options.name))


def _tool(options: argparse.Namespace) -> Made:
    """Return the module of a tool, its test, and an experiment that measures with it."""
    if ROOT is None:
        raise ConfigurationError(
            "a tool is a part of the program, and this one was installed without its source",
            next_step="run this in a checkout of Replay",
        )
    name, module = options.name, options.name.replace("-", "_")
    if find_reader(name) is not None:
        raise ConfigurationError(f"there is a tool {name!r} already", next_step="choose another name")
    words = {"my_tool": module, "my-tool": name, "MyTool": "".join(map(str.capitalize, name.split("-")))}
    wanted = {
        ROOT / "scripts" / "replay" / "tools" / f"{module}.py": "tool.py",
        ROOT / "tests" / "tools" / f"test_{module}.py": "test_tool.py",
        config_directory() / "experiments" / f"{name}.yaml": "tool-experiment.yaml",
    }
    python, test = (os.path.relpath(ROOT / path) for path in (".venv/bin/python", f"tests/tools/test_{module}.py"))
    steps = ["put your own program in its place, there and in the test", shlex.join([python, "-m", "pytest", test])]
    return Made({path: template(source, words) for path, source in wanted.items()}, steps + measuring(name))


_KINDS = {"experiment": _experiment, "claim": new_claim, "slide": new_slide, "tool": _tool}
