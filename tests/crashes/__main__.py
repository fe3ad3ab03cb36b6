"""Crashes Replay's commands at every call that changes a file, and prints what was tried and what held."""

from __future__ import annotations

import argparse
import json
import os
import pickle
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crashes import ground, promises
from crashes.disk import Disk, Left, Tree, digest_of_tree, lay_out
from crashes.recorded import Call, record
from replay.base.clock import utc_now
from replay.base.paths import ROOT
from replay.evidence.record import measuring_code

AT_ONCE = os.cpu_count() or 1
#: How far `measure` had got when it was killed, in the story in which the next run is killed, too.
AGAIN_AT = 0.75
SAY_EVERY = 100
POWER_CUTS = [how for how in Left if how not in (Left.KILLED, Left.TORN)]


@dataclass
class Point:
    """A moment of a recorded run, with what is left of it. `after` is the last point at which all evidence was safe."""

    index: int
    how: Left
    tree: Tree
    before: str
    after: int = 0


@dataclass
class Story:
    """A command's recorded run and its points."""

    name: str
    command: str
    start: Tree
    points: list[Point] = field(default_factory=list)
    calls: int = 0
    end: Tree = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


class Crashes:
    """One run of this program. `folder` is on a disk in memory, if there is one: what is synced is only modelled."""

    def __init__(self, folder: Path, every: int = 1) -> None:
        self.folder = folder
        self.every = every
        self.project = folder / "project"
        self.project.mkdir()
        ground.make_project(self.project)

    def empty(self) -> Tree:
        """Return the files of a ground on which nothing has happened."""
        root = Path(tempfile.mkdtemp(dir=self.folder))
        ground.prepare(root, self.project)
        return Disk(root, ground.CLUSTER).left(Left.KILLED)

    def tell(self, name: str, command: str, start: Tree) -> Story:
        """Record a command on a ground, and return its story with every point of it."""
        story, root = Story(name, command, start), self._laid_out(start)
        disk = Disk(root, ground.CLUSTER)
        environment = ground.environment(root, self.project)
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        argv = [sys.executable, "-m", "crashes.ground", command]
        calls = record(argv, root, environment=environment, said=self.folder / "said", scratch=self.folder)
        story.points = list(_points(disk, calls))[:: self.every]
        story.calls = sum(map(_changes, calls))
        story.end = disk.left(Left.KILLED)
        for place in (ground.RAW, "state/ledger", "state/accounts"):
            if not disk.is_safe(place):
                story.failures.append(_failure("the end", Left.POWER, f"{place} is not all on disk"))
        shutil.rmtree(root)
        return story

    def crash(self, story: Story, check: Callable[[Tree, Point, Any], None], *, evidence: bool) -> None:
        """Lay out every point of a story and check it, with as many processes as there are processors.

        With `evidence`, kills come first: they tell what had been recorded at which point.
        """
        began = time.monotonic()
        recorded: dict[int, promises.Evidence] = {}
        kills = [point for point in story.points if point.how is Left.KILLED]
        others = [point for point in story.points if point.how is not Left.KILLED]
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            for group in (kills, others):
                tried = [
                    pool.submit(self._forked, point, check, recorded.get(point.after) if evidence else None)
                    for point in group
                ]
                for number, (point, one) in enumerate(zip(group, tried, strict=True), 1):
                    failure, found = one.result()
                    if number % SAY_EVERY == 0:
                        print(f"  {number} of {len(group)} {'kills' if group is kills else 'others'}", flush=True)
                    if point.how is Left.KILLED:
                        recorded[point.index] = found
                    if failure:
                        where = f"call {point.index}, before {point.before}"
                        story.failures.append(_failure(where, point.how, failure))
        finally:
            pool.shutdown(cancel_futures=True)
        story.seconds = time.monotonic() - began

    def warm_up(self, empty: Tree) -> None:
        """Run the commands once in this process: its forks then have what they import and read in common."""
        root, here, before = self._laid_out(empty), Path.cwd(), dict(os.environ)
        os.chdir(root)
        os.environ |= ground.environment(root, self.project)
        for command in ("measure", "derive", "clean"):
            promises.runs(command)
        os.chdir(here)
        os.environ |= before
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        shutil.rmtree(root)

    def run(self, tree: Tree, command: str) -> Tree:
        """Run a command undisturbed; return the files afterwards."""
        failure, found = self._forked(Point(0, Left.KILLED, tree, ""), lambda *_: promises.runs(command), None, True)
        assert failure is None, failure
        return found

    def _forked(
        self, point: Point, check: Callable[..., None], recorded: Any, tree_after: bool = False
    ) -> tuple[str | None, Any]:
        """Check a point in a fork. Returns the failure, or None, and what had been recorded or is there afterwards."""
        root = self._laid_out(point.tree)
        answer = root.with_suffix(".answer")
        if (pid := os.fork()) == 0:
            status = 1
            try:
                status = _child(self, root, answer, point, check, recorded, tree_after)
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        try:
            if status != 0:
                return f"the checking process ended with {status}", None
            return pickle.loads(answer.read_bytes())  # this process's own child wrote it
        finally:
            shutil.rmtree(root)
            answer.unlink(missing_ok=True)

    def _laid_out(self, tree: Tree) -> Path:
        root = Path(tempfile.mkdtemp(dir=self.folder))
        lay_out(tree, root)
        ground.link(root, self.project)
        return root


def _child(
    crashes: Crashes, root: Path, answer: Path, point: Point, check: Any, recorded: Any, tree_after: bool
) -> int:
    os.chdir(root)
    os.environ |= ground.environment(root, crashes.project)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    failure = found = None
    try:
        if not tree_after:
            found = promises.recorded()
        check(point.tree, point, recorded)
    except AssertionError as error:
        failure = str(error)
    except BaseException:
        failure = traceback.format_exc()
    if tree_after:
        found = Disk(root, ground.CLUSTER).left(Left.KILLED)
    answer.write_bytes(pickle.dumps((failure, found)))
    return 0


def _changes(call: Call) -> bool:
    if call.name in ("open", "openat"):
        return bool({"O_CREAT", "O_TRUNC"} & call.words)
    return call.name not in ("lseek", "dup", "dup2", "dup3")


def _points(disk: Disk, calls: Sequence[Call]) -> Iterator[Point]:
    """Apply a run's calls to a disk, and yield every different state on the way, and at the end."""
    seen: set[tuple[str, int]] = set()
    settled = index = 0

    def states(before: str) -> Iterator[Point]:
        for how in Left:
            if how is not Left.TORN:
                yield from fresh(how, disk.left(how), before)

    def fresh(how: Left, tree: Tree, before: str) -> Iterator[Point]:
        after = index if how in (Left.KILLED, Left.TORN) else settled
        if (key := (digest_of_tree(tree), after if how in POWER_CUTS else -1)) not in seen:
            seen.add(key)
            yield Point(index, how, tree, before, after)

    for call in calls:
        if _changes(call):
            if disk.is_safe(ground.RAW):
                settled = index
            yield from states(str(call).replace(disk.root, ""))
            if call.name == "write" and len(call.content) > 1:
                yield from fresh(Left.TORN, disk.half_written(call), str(call).replace(disk.root, ""))
        disk.apply(call)
        index += _changes(call)
    if disk.is_safe(ground.RAW):
        settled = index
    yield from states("the end")


def _failure(where: str, how: Left, what: str) -> dict[str, Any]:
    return {"where": where, "left": how.value, "failure": what}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every story. Returns 0, or 1 if something did not hold."""
    options = _parser().parse_args(arguments)
    if shutil.which("strace") is None:
        print("strace is not installed, which records the calls; next: sudo apt-get install strace", file=sys.stderr)
        return 2
    began = time.monotonic()
    ground.install()
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="replay-crashes-", dir=memory if memory.is_dir() else None) as folder:
        crashes = Crashes(Path(folder).resolve(), options.every)
        stories = list(_stories(crashes, options.commands or ["measure", "clean", "derive"]))
    seconds = time.monotonic() - began
    print(_table(stories))
    points, failures = sum(len(one.points) for one in stories), sum(len(one.failures) for one in stories)
    print(f"\n{points} crash points in {seconds:.0f} s, {failures} failed")
    results = ROOT / ".replay" / "crashes.json"
    results.parent.mkdir(exist_ok=True)
    result = {
        "points": points,
        "failures": failures,
        "seconds": round(seconds),
        "at": utc_now(),
        **measuring_code(),
        "commands": [_figures(one) for one in stories],
    }
    for path in (results, *([Path(options.json)] if options.json else [])):
        path.write_text(json.dumps(result, indent=2) + "\n")
    return 1 if failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="npm run crashes --", description=__doc__)
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="only these: measure, clean, derive")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try only every Nth point")
    parser.add_argument("--json", metavar="FILE", help="also write what was found to this file")
    return parser


def _stories(crashes: Crashes, chosen: Sequence[str]) -> Iterator[Story]:
    """Yield each chosen command's story once its points were tried."""
    empty = crashes.empty()
    crashes.warm_up(empty)
    measured = crashes.tell("measure", "measure", empty)
    kills = [point for point in measured.points if point.how is Left.KILLED]
    if "measure" in chosen:
        yield _told(crashes, measured, _measuring)
        point = kills[int(AGAIN_AT * len(kills))]
        yield _told(crashes, crashes.tell("measure, after a kill", "measure", point.tree), _measuring)
    if "clean" in chosen:
        filled = max(kills, key=lambda point: sum(path.startswith("cluster/replay/") for path in point.tree))
        yield _told(crashes, crashes.tell("clean", "clean", filled.tree), _cleaning)
    if "derive" in chosen:
        derived = crashes.tell("derive", "derive", measured.end)
        yield _told(crashes, derived, _deriving(derived.end))
        more = crashes.run(derived.end, "measure-more")
        again = crashes.tell("derive, with another block", "derive", more)
        yield _told(crashes, again, _deriving(again.end))


def _told(crashes: Crashes, story: Story, check: Callable[..., None]) -> Story:
    print(f"{story.name}: {story.calls} calls, {len(story.points)} points …", flush=True)
    crashes.crash(story, check, evidence=check is _measuring)
    for one in story.failures[:5]:
        print(f"  FAILED at {one['where']}, {one['left']}: {one['failure']}", flush=True)
    return story


def _measuring(tree: Tree, point: Point, recorded: promises.Evidence | None) -> None:
    promises.ledger_names_what_exists()
    kept = promises.recorded() if point.how in (Left.KILLED, Left.TORN) else dict(recorded or {})
    if point.how is Left.KILLED:
        kept |= promises.measured_cells()
    promises.measuring_completes(kept, "measure")


def _cleaning(*_: object) -> None:
    promises.ledger_names_what_exists()
    promises.cleaning_completes()


def _deriving(end: Tree) -> Callable[..., None]:
    above = f"benchmarks/{ground.DATA_SET}/"
    wanted = {
        path.removeprefix(above): content
        for path, content in end.items()
        if content is not None and path.startswith(above) and not path.startswith(f"{ground.RAW}/")
    }
    return lambda *_: promises.deriving_completes(wanted)


def _figures(story: Story) -> dict[str, Any]:
    kinds = {how.value: sum(point.how is how for point in story.points) for how in Left}
    return {
        "command": story.name,
        "calls": story.calls,
        "points": len(story.points),
        "kinds": kinds,
        "seconds": round(story.seconds),
        "failures": story.failures,
    }


def _table(stories: Sequence[Story]) -> str:
    rows = ["", "| command | calls | kills | torn writes | power cuts | failed |", "|---|---:|---:|---:|---:|---:|"]
    for one in stories:
        kills, torn = (sum(point.how is how for point in one.points) for how in (Left.KILLED, Left.TORN))
        cuts = len(one.points) - kills - torn
        rows.append(f"| {one.name} | {one.calls} | {kills} | {torn} | {cuts} | {len(one.failures)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())
