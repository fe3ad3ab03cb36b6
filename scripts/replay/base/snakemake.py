"""Starts Snakemake on Replay's Snakefile, and what the rules of the Snakefile use themselves.

Snakemake runs in a process group of its own, and an interruption is passed on to the whole group.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from replay.base.disk import explained
from replay.base.errors import INTERRUPTED, ConfigurationError, ReplayError, handling
from replay.base.paths import PLACES, program_file, project_directory, working_directory
from replay.base.progress import EVENTS, Progress

#: How Python and Snakemake begin the line that names an error; Snakemake's own about a failed job says nothing new.
_CAUSE = re.compile(r"(?!RuleException|CalledProcessError|WorkflowError)[A-Za-z_.]*(?:Error|Exception)\b.*")
#: What the plugin for Slurm says of a job that failed, or that Slurm has ended.
_JOB = re.compile(r"message: (SLURM-job '\d+' failed, SLURM status is: '[A-Z_]+')")

#: A shell adds this to the number of the signal that ended a program.
_SIGNALLED = 128


def run_snakemake(
    arguments: Sequence[str],
    settings: Sequence[str],
    log: Path,
    told: Callable[[str], None],
    *,
    stopping: Callable[[], None] = lambda: None,
    profile: Path | None = None,
) -> int:
    """Run Snakemake with these arguments and `key=value` settings; return its exit status, 130 when interrupted.

    If a signal ended it, the status is 128 and the signal's number, as in a shell.

    `profile` says where jobs run, if that is not here; the profile `default` applies in any case.
    `told` gets each line that the jobs print to their shared standard output; Snakemake's own messages go to `log`.
    `stopping` is called when an interruption is passed on.
    """
    project = project_directory()
    argv = [
        *("setpriv", "--pdeathsig", "KILL", "--", sys.executable, "-m", "snakemake", *arguments),
        *("--snakefile", str(program_file("Snakefile")), "--directory", str(project)),
        *("--workflow-profile", str(program_file("workflow", "profiles", "default"))),
        *(("--profile", str(profile)) if profile else ("--profile", "none")),
        *("--config", *settings),
    ]
    # Snakemake works in the project's folder, where a path relative to this one would name another place.
    moved = {name: str(Path(place).absolute()) for name in PLACES if (place := os.environ.get(name))}
    log.parent.mkdir(parents=True, exist_ok=True)
    interrupted = False

    def forward(number: int, frame: Any) -> None:
        nonlocal interrupted
        if not interrupted:
            interrupted = True
            os.killpg(process.pid, signal.SIGINT)
            stopping()

    with log.open("w") as file:
        # If this process is killed, so is Snakemake, and the running block is then interrupted (see the Snakefile). An
        # interrupted Snakemake would first wait for the end of the block.
        process = subprocess.Popen(
            argv,
            **{"start_new_session": True, "stdout": subprocess.PIPE, "stderr": file},
            **{"text": True, "errors": "replace", "env": {**os.environ, **moved, EVENTS: "1"}},
        )
        with handling(dict.fromkeys((signal.SIGINT, signal.SIGTERM), forward)):
            for line in process.stdout:
                told(line)
            status = process.wait()
    if interrupted:
        return INTERRUPTED
    return status if status >= 0 else _SIGNALLED - status


def setting(key: str, value: str | Sequence[str]) -> str:
    """Return a setting for `run_snakemake`: JSON between blanks, which Snakemake takes as it is.

    It takes quotes off the ends, and then `0815` and `1e5` for numbers.
    """
    return f"{key}= {json.dumps(value)} "


def end_of(status: int) -> str:
    """Return how Snakemake ended, from its status as `run_snakemake` returns it: `ended with status 1`."""
    try:
        return f"was ended by {signal.Signals(status - _SIGNALLED).name}"
    except ValueError:
        return f"ended with status {status}"


def profile_folder(name: str) -> Path:
    """Return the folder of a Snakemake profile: a path, else one in `workflow/profiles/` of the project or of Replay.

    Raises ConfigurationError if there is none, or if the executor that it names is not installed.
    """
    own, shipped = project_directory() / "workflow" / "profiles" / name, program_file("workflow", "profiles", name)
    places = (Path(name),) if "/" in name else (own, shipped)
    folder = next((place.resolve() for place in places if (place / "config.yaml").is_file()), None)
    if folder is None:
        raise ConfigurationError(
            f"there is no profile {name!r}: {' nor '.join(str(place / 'config.yaml') for place in places)}",
            where="--profile",
            next_step="name slurm, or the folder of a Snakemake profile: --profile ./FOLDER",
        )
    try:
        settings = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f"cannot be read: {error}", where=folder / "config.yaml") from error
    executor = settings.get("executor") if isinstance(settings, dict) else None
    plugin = f"snakemake_executor_plugin_{str(executor).replace('-', '_')}"
    if executor not in (None, "local") and importlib.util.find_spec(plugin) is None:
        raise ConfigurationError(
            f"Snakemake's executor {executor!r} is not installed",
            where=folder / "config.yaml",
            next_step="for Slurm, in a checkout: scripts/setup --for slurm; installed: uv tool install 'replay[slurm]'",
        )
    return folder


def rule_path(path: Path) -> str:
    """Return a path as the rules write it: relative to Snakemake's working directory if it is inside."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


@contextlib.contextmanager
def reporting(log_file: str) -> Iterator[Callable[[str], None]]:
    """Do a rule's work inside; what the yielded function is told goes to standard output and to the rule's log.

    A ReplayError ends the job with its exit status, and is reported without a traceback: on standard error, or as an
    event to the process that started Snakemake.
    """
    with Path(log_file).open("w", encoding="utf-8") as log:

        def say(line: str) -> None:
            print(line, flush=True)
            log.write(f"{line}\n")

        try:
            yield say
        except (ReplayError, OSError) as error:
            if (refused := explained(error)) is None:
                raise
            log.write(f"{refused}\n")
            if not Progress().failed(str(refused), refused.exit_status):
                print(refused, file=sys.stderr)
            sys.exit(refused.exit_status)


def log_path(*words: str) -> Path:
    """Return the file for Snakemake's own messages in one run."""
    return working_directory() / "logs" / f"snakemake-{'-'.join(words)}.log"


def cause_in(log: Path) -> str:
    """Return the last line of a log that names an error; empty if there is none. What Slurm says comes first."""
    text = log.read_text()
    if jobs := _JOB.findall(text):
        return jobs[-1]
    causes = [line.strip() for line in text.splitlines() if _CAUSE.match(line.strip())]
    return causes[-1] if causes else ""
