"""A Slurm of one node for one test: Debian's packages, unpacked, as plain processes that listen on 127.0.0.1 only."""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from replay.base.paths import ROOT
from support.patience import patient, wait_until

ACCOUNT = "storage-team"
CLIENTS = ("sacctmgr", "sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun")


@dataclass(frozen=True)
class Slurm:
    """A running Slurm. `bin` contains its commands, which find it without any environment."""

    bin: Path

    def ask(self, program: str, *arguments: str) -> str:
        """Return what one of Slurm's commands says."""
        done = subprocess.run(
            [self.bin / program, *arguments], capture_output=True, text=True, timeout=patient(30), check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def jobs(self) -> dict[str, dict[str, str]]:
        """Return all jobs that Slurm remembers, by id: state, account, wall time, memory."""
        lines = self.ask("squeue", "--states=all", "--noheader", "--format=%i|%T|%a|%l|%m").splitlines()
        rows = [line.strip().split("|") for line in lines]
        return {row[0]: dict(zip(("state", "account", "time", "memory"), row[1:], strict=True)) for row in rows}


def programs() -> Path:
    """Return a folder with Slurm's and munge's packages, which are fetched once and never installed."""
    folder = ROOT / ".cache" / "slurm"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="slurm-", dir=folder.parent) as name:
        packages, made = Path(name), Path(name) / "root"
        said = _run(["apt-get", "install", "--dry-run", "--no-install-recommends", "slurm-wlm", "munge"], packages)
        wanted = [line.split()[1] for line in said.splitlines() if line.startswith("Inst ")]
        _run(["apt-get", "download", *wanted], packages)
        for package in packages.glob("*.deb"):
            _run(["dpkg-deb", "--extract", str(package), str(made)], packages)
        made.rename(folder)
    return folder


def _run(argv: list[str], folder: Path) -> str:
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=patient(300), check=False)
    assert done.returncode == 0, f"Slurm's packages cannot be had: {' '.join(argv)}: {done.stderr}"
    return done.stdout


@contextlib.contextmanager
def one_node(run_folder: Path) -> Iterator[Slurm]:
    """Start a Slurm of one node with two processors; end it, and whatever still runs in it."""
    root = programs()
    library = next((root / "usr" / "lib").glob("*/slurm-wlm"))
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{library.parent}:{library}"}
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slurm-", dir=run_folder)))
        for name in ("bin", "state", "spool"):
            (folder / name).mkdir()
        conf = folder / "slurm.conf"
        conf.write_text(_conf(folder, library, *_free_ports(2)))
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        environment["SLURM_CONF"] = str(conf)
        _write_commands(folder / "bin", root / "usr" / "bin", environment)

        def start(*argv: object) -> None:
            log = stack.enter_context((folder / f"{Path(str(argv[0])).name}.said").open("wb"))
            command = ["setpriv", "--pdeathsig", "KILL", "--", *map(str, argv)]
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.terminate)

        sbin = root / "usr" / "sbin"
        files = {"socket": "munge.socket", "key-file": key.name, "pid-file": "munged.pid", "log-file": "munged.log"}
        files["seed-file"] = "munged.seed"
        start(
            sbin / "munged", "--foreground", "--force", *(f"--{word}={folder / file}" for word, file in files.items())
        )
        wait_until((folder / "munge.socket").exists, "munged")
        start(_daemon(sbin, "slurmctld"), "-D", "-c", "-f", conf)
        start(_daemon(sbin, "slurmd"), "-D", "-c", "-f", conf, "-N", "node-1", "-d", _daemon(sbin, "slurmstepd"))
        made = Slurm(folder / "bin")
        stack.callback(_end_jobs, made)
        wait_until(lambda: "idle" in _states(made), "Slurm's node")
        yield made


def _end_jobs(slurm: Slurm) -> None:
    slurm.ask("scancel", "--user", getpass.getuser())
    going = ("RUNNING", "COMPLETING", "PENDING")
    wait_until(lambda: not any(job["state"] in going for job in slurm.jobs().values()), "the end of Slurm's jobs")


def _states(slurm: Slurm) -> str:
    done = subprocess.run([slurm.bin / "sinfo", "-h", "-N"], capture_output=True, text=True, check=False)
    return done.stdout


def _daemon(folder: Path, name: str) -> Path:
    """Return a daemon's program, whose name Debian has changed over time."""
    return next(path for path in (folder / f"{name}-wlm", folder / name) if path.exists())


def _write_commands(folder: Path, programs: Path, environment: dict[str, str]) -> None:
    """Write commands that find this Slurm by themselves, as those of a cluster do.

    Snakemake's plugin removes SLURM_CONF from the environment of steps. There is no accounting database here; the
    plugin asks for the user's accounts before it submits anything, and `sacctmgr` answers as one with one account.
    """
    words = "".join(f"export {name}='{environment[name]}'\n" for name in ("SLURM_CONF", "LD_LIBRARY_PATH"))
    for name in CLIENTS:
        script = f"echo {ACCOUNT}\n" if name == "sacctmgr" else f'{words}exec {programs / name} "$@"\n'
        (folder / name).write_text(f"#!/bin/sh\n{script}")
        (folder / name).chmod(0o755)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _conf(folder: Path, library: Path, controller_port: int, node_port: int) -> str:
    user, host = getpass.getuser(), socket.gethostname()
    words = {
        "ClusterName": "replay-test",
        "SlurmctldHost": f"{host}(127.0.0.1)",
        "SlurmUser": user,
        "SlurmdUser": user,
        "SlurmctldPort": controller_port,
        "SlurmdPort": node_port,
        "CommunicationParameters": "NoCtldInAddrAny,NoInAddrAny",
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={folder / 'munge.socket'}",
        "CredType": "cred/munge",
        "PluginDir": library,
        "StateSaveLocation": folder / "state",
        "SlurmdSpoolDir": folder / "spool",
        "SlurmctldPidFile": folder / "slurmctld.pid",
        "SlurmdPidFile": folder / "slurmd.pid",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "SwitchType": "switch/none",
        "MpiDefault": "none",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core_Memory",
        # Seconds between a job's SIGTERM and its SIGKILL.
        "KillWait": 30,
    }
    lines = [f"{name}={value}" for name, value in words.items()]
    lines.append(f"NodeName=node-1 NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=4096 State=UNKNOWN")
    lines.append("PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP")
    return "\n".join(lines) + "\n"
