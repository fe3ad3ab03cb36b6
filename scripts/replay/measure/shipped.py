"""Asks before anything is measured into a data set that ships, so that nobody adds to a talk's evidence by mistake."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.base.paths import ROOT, benchmarks_directory, project_directory

INTO_SHIPPED = "--into-shipped"
_NAMED = r"^data_set:\s*[\"']?{0}[\"']?\s*(?:#|$)|benchmarks/{0}/"


def require_consent(data_set: str, *, given: bool) -> None:
    """Raise ConfigurationError if the data set ships and nobody agrees to measure into it.

    Agreement is `given` with an option, or asked for in the terminal.
    """
    why = None if given else why_it_ships(data_set)
    if why is None:
        return
    if sys.stdin.isatty() and sys.stdout.isatty():
        print(f"{data_set} ships with the talk: {why}. What you measure now becomes part of it.", flush=True)
        if input(f"Type {data_set} to measure into it all the same: ").strip() == data_set:
            return
        raise ConfigurationError("nothing was measured", next_step="name a data set of your own with --data")
    raise ConfigurationError(
        f"{data_set} ships with the talk: {why}",
        where=benchmarks_directory() / data_set,
        next_step=f"name a data set of your own with --data, or measure into this one with {INTO_SHIPPED}",
    )


def why_it_ships(data_set: str, project: Path | None = None) -> str | None:
    """Return why a data set counts as one that ships: git tracks its files, or the talk names it. None otherwise.

    The talk is that of `project`, else of the checkout; an installed Replay looks into the person's project.
    """
    project = project or ROOT or project_directory()
    if _is_tracked(benchmarks_directory() / data_set):
        return "git tracks its files"
    named = re.compile(_NAMED.format(re.escape(data_set)), re.MULTILINE)
    for path in (project / "config/talk.yaml", *sorted((project / "slides").glob("*.md"))):
        if path.is_file() and named.search(path.read_text(encoding="utf-8")):
            return f"{path.relative_to(project)} names it"
    return None


def _is_tracked(folder: Path) -> bool:
    """Return whether git tracks a file below a folder. Without git or a repository, nothing is tracked."""
    if not folder.is_dir():
        return False
    try:
        found = subprocess.run(
            ["git", "ls-files", "--", "."], cwd=folder, capture_output=True, text=True, check=False, timeout=60
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return False
    return found.returncode == 0 and bool(found.stdout.strip())
