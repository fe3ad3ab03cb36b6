"""A golden master: records what Replay makes of what is committed, and compares it with an earlier record.

    python tests/golden/golden.py record DIR [--site]      writes DIR/*.json
    python tests/golden/golden.py compare DIR [--site]     names every difference; status 1 if there is one

It runs unchanged on trees before and after a refactoring: it uses command lines, and looks up functions of the package
by name, whatever module they are in. It needs no cluster, and never writes into benchmarks/.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
#: Files of a checkout, which git ignores and readers of a data set do not see.
NOTES = {"derived.json", "experiment.json", "judged.json", "answered.json", "described.json"}
SITE = """\
name: golden
label: Golden
limitation: Nothing runs here.
cluster: {{ conf: {folder}/ceph.conf, client: client.replay, keyring: {folder}/keyring }}
pools:
  data: {{ name: replay }}
allows: []
"""
#: How long a command took.
_SECONDS = re.compile(r"\bin \d+(\.\d+)? s\b")
_CODE_HASH = re.compile(r"-[A-Za-z0-9_-]{8}\.(js|css|map)\b")

#: A command line whose exit status is recorded. `{scratch}` is an empty folder.
STATUSES = (
    "",
    "--help",
    "--version",
    "mesure",
    "--verison",
    "derive",
    "derive --data nowhere",
    "derive --data ../elsewhere",
    "derive --data tentacle --experiment nothing",
    "derive --data tentacle --verify",
    "derive --data headline-18 --outliers",
    "claims --data nowhere",
    "claims --data tentacle --measured",
    "claims --data tentacle --expect held:no-such-claim",
    "claims --data tentacle --brief --json",
    "claims --data tentacle --ratios",
    "claims --data tentacle --against tentacle",
    "claims --data tentacle --experiment rbd-jurnaling",
    "preflight --site exampel",
    "measure",
    "measure --site golden --scale huge",
    "measure --site golden --only a=b --dry-run",
    "measure --plan {scratch}/none.md",
    "clean --site exampel",
    "compare headline-16 headline-16",
    "compare headline-16 headline-18 --fail-if iops<100",
    "compare headline-16 headline-18 --fail-if nonsense",
    "import {scratch}/nowhere --data imported",
    "bundle --data headline-18",
    "bundle --data nowhere",
    "talk headline-18 --out {scratch}/talk",
    "talk nowhere --out {scratch}/none",
    "raw verify --data headline-16",
    "raw ls --data headline-16",
    "raw cat {scratch}/none.tar.gz x",
    "sandbox status --directory {scratch}/none",
    "sandbox up --left-osd-size huge",
    "init {scratch}/project",
)


class Tree:
    """A copy of what the checkout's commands read, and how to run them on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.benchmarks, self.config, self.scratch = (folder / name for name in ("benchmarks", "config", "scratch"))
        shutil.copytree(ROOT / "config", self.config)
        self.scratch.mkdir()
        for name in ("ceph.conf", "keyring"):
            (folder / name).write_text("[global]\n")
        (self.config / "sites" / "golden.yaml").write_text(SITE.format(folder=folder))
        for raw in sorted((ROOT / "benchmarks").glob("*/*/raw")):
            target = self.benchmarks / raw.relative_to(ROOT / "benchmarks")
            shutil.copytree(raw, target)
            campaign = raw.parents[1] / "campaign.json"
            if campaign.exists():
                shutil.copy(campaign, target.parents[1])
        self.data_sets = sorted(path.name for path in self.benchmarks.iterdir())

    def environment(self) -> dict[str, str]:
        """Return the environment of a command: this checkout's code, the copy's data."""
        return {
            **os.environ,
            "PYTHONPATH": str(ROOT / "scripts"),
            "REPLAY_CALLED_AS": "./replay",
            "REPLAY_BENCHMARKS": str(self.benchmarks),
            "REPLAY_CONFIG": str(self.config),
            "REPLAY_STATE": str(self.folder / "state"),
            "NO_COLOR": "1",
        }

    def run(self, words: Sequence[str], **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Replay."""
        argv = [sys.executable, "-m", "replay", *words]
        environment = self.environment() | more
        return subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    def answer(self, words: Sequence[str], **more: str) -> str:
        """Return what a command prints. Raises RuntimeError if it fails."""
        done = self.run(words, **more)
        if done.returncode:
            raise RuntimeError(f"replay {' '.join(words)} ended with status {done.returncode}:\n{done.stderr}")
        return done.stdout


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of every file below a folder but notes, by its path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in NOTES)
    return {path.relative_to(folder).as_posix(): digest(path.read_bytes()) for path in files}


def digest(content: bytes) -> str:
    """Return the start of the SHA-256 of some content."""
    return hashlib.sha256(content).hexdigest()[:16]


def find(package: str, name: str) -> Any:
    """Return a function or constant by its name, in whatever module of a package it is defined."""
    home = importlib.import_module(package)
    modules = [home, *(importlib.import_module(one.name) for one in _walk(home))]
    found = [getattr(module, name) for module in modules if hasattr(module, name)]
    if not found:
        raise AttributeError(f"{package} has no {name}")
    return found[0]


def _walk(home: Any) -> Iterator[pkgutil.ModuleInfo]:
    return pkgutil.walk_packages(home.__path__, f"{home.__name__}.")


# What is recorded -----------------------------------------------------------------------------------------------------


def derived(tree: Tree) -> dict[str, Any]:
    """Derive every data set anew; return the digest of every derived file."""
    for name in tree.data_sets:
        print(f"deriving {name} …", flush=True)
        tree.answer(["derive", "--data", name])
    return {path: value for path, value in digests(tree.benchmarks).items() if "/raw/" not in path}


def designs(_: Tree) -> dict[str, Any]:
    """Expand each experiment at each scale: cells, plans, orders and argv templates."""
    load, names = find("replay.design", "load_experiment"), find("replay.design", "experiment_names")
    scales = find("replay.design", "SCALES")
    return {
        f"{name} at {scale}": _design(load(name), scale)
        for scale in scales
        for name in names()
        if scale in load(name)["scales"]
    }


def _design(configuration: Mapping[str, Any], scale: str) -> dict[str, Any]:
    expand, plan_digest = find("replay.design", "expand"), find("replay.design", "plan_digest")
    block_seed, order_of_sets, order_of_cells = (
        find("replay.design", name) for name in ("block_seed", "order_of_sets", "order_of_cells")
    )
    design = expand(configuration, scale)
    alone = expand(configuration, scale, missing={"second_site": "no second cluster"})
    options = _job_options(design)
    orders = {}
    for block in range(1, design.blocks + 1):
        seed = block_seed("golden", design.name, block)
        orders[block] = [
            [one.point, *(cell.variant.name for cell in order_of_cells(one, seed, 1))]
            for one in order_of_sets(design, seed)
        ]
    return {
        "digest": design.digest,
        "without a second site": alone.digest,
        "blocks": design.blocks,
        "plans": [plan_digest(design, block) for block in range(1, design.blocks + 1)],
        "orders": orders,
        "cells": {
            f"{cell.point} {cell.variant.name}": {"id": cell.cell_id, "argv": _argv(design, cell, options(cell))}
            for one in design.sets
            for cell in one.cells
        },
    }


def _job_options(design: Any) -> Callable[[Any], Mapping[str, Any]]:
    """Return what an experiment's protocol makes of its options for a cell; the options, where that takes a cluster."""
    protocol = design.configuration["protocol"].replace("-", "_")
    try:
        made = find("replay.design", "protocol_class")(protocol)(MagicMock(), design)
    except Exception:
        made = None

    def options(cell: Any) -> Mapping[str, Any]:
        found = made.job_options(cell) if made else design.options
        return dict(design.options) if "Mock" in repr(found) else found

    return options


def _argv(design: Any, cell: Any, options: Mapping[str, Any]) -> list[str] | None:
    """Return a cell's argv template; None if no single program runs it."""
    try:
        reader = find("replay.tools", "adapter")(design.configuration["tool"])
    except AttributeError:
        reader = find("replay.tools", "reader")(design.configuration["tool"])
    if not hasattr(reader, "argv_template"):
        return None
    return reader.argv_template(
        cell.levels, {**options, "client_options": dict(cell.variant.client_options), "keyring": True}
    )


def claims(tree: Tree) -> dict[str, Any]:
    """Return the verdicts on all data sets."""
    return {name: json.loads(tree.answer(["claims", "--data", name, "--json"])) for name in tree.data_sets}


def compared(tree: Tree) -> dict[str, Any]:
    """Return the comparisons of data sets that share points."""
    pairs = (["headline-16", "headline-18", "headline-20"], ["headline-16", "tentacle"])
    made = {" ".join(names): json.loads(tree.answer(["compare", *names, "--json"])) for names in pairs}
    made["claims"] = json.loads(tree.answer(["claims", "--data", "tentacle", "--against", "headline-20", "--json"]))
    return made


def imported(tree: Tree) -> dict[str, Any]:
    """Import the fixtures; return what is said, and the digest of every file."""
    results, outputs = tree.folder / "results", tree.folder / "outputs"
    with tarfile.open(FIXTURES / "fio-results.tar.gz") as archive:
        archive.extractall(tree.folder, filter="data")
    outputs.mkdir()
    for collection in ("fio", "rados-bench", "rbd-bench", "release-16", "release-18", "release-20"):
        for name, content in _samples(FIXTURES / f"{collection}.txt"):
            (outputs / collection).mkdir(exist_ok=True)
            (outputs / collection / name).write_bytes(content)
    made = tree.folder / "imported"
    printed = {}
    for name, folders in {"engines": [results / "libaio", results / "io_uring"], "outputs": [outputs]}.items():
        words = ["import", *map(str, folders), "--data", name, "--label", name, "--left-out"]
        done = tree.run(words, REPLAY_BENCHMARKS=str(made))
        lines = _SECONDS.sub("in … s", done.stdout + done.stderr).splitlines()
        printed[name] = {"status": done.returncode, "lines": [line for line in lines if line[-1:] != "…"]}
    return {"printed": printed, "files": digests(made)}


def _samples(path: Path) -> Iterator[tuple[str, bytes]]:
    """Return the files in a collection of fixtures, without the notes in their first and last lines."""
    _, *parts = re.split(rb"(?:\A|\n)==> (.+) <==\n", path.read_bytes())
    for name, content in zip(parts[::2], parts[1::2], strict=True):
        lines = [one for one in content.splitlines(keepends=True) if not one.startswith((b"$ ", b"# rc="))]
        yield name.decode(), b"".join(lines)


def planned(tree: Tree) -> dict[str, Any]:
    """Return what measuring says that it would do, at each scale."""
    words = ["measure", "--site", "golden", "--dry-run", "--scale"]
    return {scale: tree.answer([*words, scale]).splitlines() for scale in find("replay.design", "SCALES")}


def statuses(tree: Tree) -> dict[str, Any]:
    """Return the exit statuses of command lines, good and bad."""
    found = {line: tree.run(line.format(scratch=tree.scratch).split()).returncode for line in STATUSES}
    for number, what in enumerate(("altered", "removed")):
        pack = sorted((tree.benchmarks / "headline-16").glob("*/raw/*.tar.gz"))[-1 - number]
        content = pack.read_bytes()
        pack.unlink()
        if what == "altered":
            pack.write_bytes(content + b"\0")
        found[f"derive of a pack that was {what}"] = tree.run(["derive", "--data", "headline-16"]).returncode
        pack.write_bytes(content)
    return found


def site(tree: Tree) -> dict[str, Any]:
    """Build the site; return the digest of every file that is not code, with the hashes of code left out."""
    out = tree.folder / "dist"
    argv = ["npm", "run", "--silent", "build", "--", "--out", str(out)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("REPLAY_")}
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the site was not built:\n{done.stdout}{done.stderr}")
    found = {}
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        name = _CODE_HASH.sub(r"-….\1", path.relative_to(out).as_posix())
        if path.suffix in (".html", ".json", ".webmanifest", ".svg", ".txt"):
            found[name] = digest(_CODE_HASH.sub(r"-….\1", path.read_text()).encode())
        else:
            found[name] = "code" if path.suffix in (".js", ".css", ".map") else digest(path.read_bytes())
    return found


#: In this order: later sections read what the first has derived.
SECTIONS = {
    "derived": derived,
    "designs": designs,
    "claims": claims,
    "compared": compared,
    "imported": imported,
    "planned": planned,
    "statuses": statuses,
}


def recorded(with_site: bool) -> dict[str, Any]:
    """Return everything that is recorded, by section."""
    sections = {**SECTIONS, **({"site": site} if with_site else {})}
    with tempfile.TemporaryDirectory(prefix="replay-golden-", dir="/var/tmp") as folder:
        tree = Tree(Path(folder))
        found = {}
        for name, section in sections.items():
            print(f"recording: {name} …", flush=True)
            text = json.dumps(section(tree), ensure_ascii=False).replace(folder, "…")
            found[name] = json.loads(text)
        return found


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Yield a line for each value that differs, with its place."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            inner = f"{place} > {key}" if place else key
            if key not in after:
                yield f"gone: {inner}"
            elif key not in before:
                yield f"new: {inner}"
            else:
                yield from differences(before[key], after[key], inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{place}[{number}]")
    elif before != after:
        yield f"changed: {place}: {_short(before)} → {_short(after)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:97]}…"


def main() -> int:
    """Record or compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("directory", type=Path, metavar="DIR", help="the folder of the record")
    parser.add_argument("--site", action="store_true", help="also build the site, which needs Node")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "scripts"))
    made = recorded(options.site)
    if options.what == "record":
        options.directory.mkdir(parents=True, exist_ok=True)
        for name, content in made.items():
            text = json.dumps(content, indent=1, ensure_ascii=False)
            (options.directory / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"recorded in {options.directory}")
        return 0
    count = 0
    for name, content in made.items():
        path = options.directory / f"{name}.json"
        if not path.exists():
            print(f"not recorded: {name}")
            continue
        lines = list(differences(json.loads(path.read_text(encoding="utf-8")), content, name))
        print("\n".join(lines), end="\n" if lines else "")
        print(f"{name}: {len(lines)} differences")
        count += len(lines)
    print(f"{count} differences in all")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
