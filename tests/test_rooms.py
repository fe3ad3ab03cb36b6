"""The rooms of the package, whose imports go one way. Only this file states the order of the rooms."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import replay
from replay.base.paths import ROOT
from support.patience import patient

PACKAGE = ROOT / "scripts" / "replay"
MODULES = sorted(module.name for module in pkgutil.walk_packages(replay.__path__, "replay."))
#: From the ground up: a room imports from itself and from those before it, never from those after it.
GROUND = ("base", "design", "evidence", "tools")
DATA_TOWER = ("derive", "claims", "exchange")
CLUSTER_TOWER = ("cluster", "sandbox", "ownership", "preflight", "measure", "protocols")
ORDER = (*GROUND, *DATA_TOWER, *CLUSTER_TOWER, "cli")


def allowed_rooms(room: str) -> set[str]:
    """Return the rooms from which a room may import: those below it in its tower, and the ground floor."""
    if room == "cli":
        return set(ORDER)
    tower = next(tower for tower in (GROUND, DATA_TOWER, CLUSTER_TOWER) if room in tower)
    return {*GROUND, *tower[: tower.index(room) + 1]} if tower is not GROUND else set(GROUND[: GROUND.index(room) + 1])


def modules_of(room: str) -> list[Path]:
    return sorted((PACKAGE / room).rglob("*.py"))


def imported_rooms(text: str) -> set[str]:
    """Return the rooms from which a module imports, also inside functions and only for type checkers."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parts = [name.split(".") for name in names]
    return {part[1] for part in parts if part[0] == "replay" and len(part) > 1}


def test_every_folder_is_a_room_that_says_what_it_is_for():
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert folders == set(ORDER)
    for room in ORDER:
        assert ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text())), room


def own_modules() -> list[Path]:
    """Return the modules of the package; `files/` is for others."""
    return [path for path in sorted(PACKAGE.rglob("*.py")) if "files" not in path.relative_to(PACKAGE).parts]


def arrows() -> dict[str, set[str]]:
    """Return the modules that each module imports, also inside functions and only for type checkers."""
    imported: dict[str, set[str]] = {}
    for path in own_modules():
        names = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                names |= {
                    name if (name := f"{node.module}.{alias.name}") in MODULES else node.module for alias in node.names
                }
        imported[name_of(path)] = (names & set(MODULES)) - {name_of(path)}
    return imported


def test_no_imports_go_in_a_circle():
    tuple(TopologicalSorter(arrows()).static_order())


def test_the_house_has_at_most_nine_floors_and_190_modules():
    """What a newcomer has to walk through. __init__.py only says what a room is for."""
    room_of = {module: module.split(".")[1] for module in arrows() if "." in module and not module.endswith("__main__")}
    below = {room: set() for room in ORDER}
    for module, imported in arrows().items():
        below.get(room_of.get(module), set()).update(room_of[other] for other in imported if other in room_of)
    floor: dict[str, int] = {}
    for room in ORDER:
        floor[room] = 1 + max((floor[other] for other in below[room] - {room}), default=0)
    assert max(floor.values()) <= 9, floor
    assert len([path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]) <= 190


def test_no_two_classes_have_one_name():
    classes = Counter(
        node.name
        for path in own_modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in classes.items() if count > 1] == []


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith(".__main__")])
def test_a_module_can_be_imported(name):
    """A name that moved is found without a cluster."""
    importlib.import_module(name)


@pytest.mark.parametrize("room", ORDER)
def test_a_room_imports_only_from_rooms_below_it_in_its_tower(room):
    allowed = allowed_rooms(room)
    upward = {
        str(path.relative_to(PACKAGE)): sorted(above)
        for path in modules_of(room)
        if (above := imported_rooms(path.read_text()) - allowed)
    }
    assert upward == {}


@pytest.mark.parametrize(
    "text",
    [
        "import replay.measure.block",
        "from replay import measure",
        "from replay.measure import block",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from replay.measure.block import main",
        "def late():\n    from replay.measure.block import main",
    ],
)
def test_every_form_of_import_is_found(text):
    assert imported_rooms(text) == {"measure"}


#: Reads lists of modules; prints for each list, imported in a process of its own, what was loaded. That process is a
#: fork of one that has loaded what is not Replay's, which takes most of the time.
LOADER = """
import importlib, json, os, sys
import jsonschema, pandas, rich.console, rich.progress, yaml
assert not [name for name in sys.modules if name.split(".")[0] == "replay"]
for line in sys.stdin:
    if os.fork() == 0:
        for name in json.loads(line):
            importlib.import_module(name)
        print(json.dumps([*sys.modules]), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""


@pytest.fixture(scope="module")
def loaded():
    """The modules of each room that needs no cluster, and all that importing them loads."""
    rooms = {room: [name_of(path) for path in modules_of(room)] for room in DATA_TOWER}
    lines = "".join(f"{json.dumps(names)}\n" for names in rooms.values())
    done = subprocess.run([sys.executable, "-c", LOADER], input=lines, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    modules = map(json.loads, done.stdout.splitlines())
    return {room: (names, all_loaded) for (room, names), all_loaded in zip(rooms.items(), modules, strict=True)}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.xdist_group("modules that a room loads")
@pytest.mark.parametrize("room", DATA_TOWER)
def test_deriving_and_judging_load_nothing_that_knows_a_cluster(room, loaded):
    names, all_loaded = loaded[room]
    assert set(names) <= set(all_loaded)
    assert [name for name in all_loaded if name.startswith(tuple(f"replay.{room}" for room in CLUSTER_TOWER))] == []


# Tests of one group run in one process: what they share is neither made twice nor broken by one beside another --------

GROUPED = """\
import pytest

@pytest.mark.xdist_group("shares a sandbox")
@pytest.mark.parametrize("number", range(8))
def test_one(number):
    pass
"""


@pytest.mark.slow
def test_the_tests_of_a_group_run_in_one_process(tmp_path):
    (tmp_path / "test_grouped.py").write_text(GROUPED)
    argv = [sys.executable, "-m", "pytest", "-v", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*argv, "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    processes = re.findall(r"\[(gw\d)\].* PASSED", done.stdout)
    assert len(processes) == 8, done.stdout + done.stderr
    assert len(set(processes)) == 1, done.stdout
