"""An SSH server for one test, on loopback, without privileges, with throw-away keys."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.patience import patient

#: The user id of a server that root starts: one that nobody on the machine has, with a line in a private passwd.
#: Each process that runs tests has another id, which distinguishes the files of its servers from all others.
USER, USER_ID = "replay-test", 100_000 + os.getpid()
FOLDERS = Path("/dev/shm")


def folders_of_clients() -> set[Path]:
    """Return the existing folders of clients behind this process' servers."""
    owner = USER_ID if os.geteuid() == 0 else os.geteuid()
    found = set()
    for folder in FOLDERS.glob("replay-fio-*"):
        with contextlib.suppress(FileNotFoundError):  # another's, and gone by now
            if folder.stat().st_uid == owner:
                found.add(folder)
    return found


@dataclass(frozen=True)
class SshServer:
    """`bin` contains an `ssh` that knows the server's key, and the names of `hosts`, all of which are this server."""

    bin: Path
    hosts: tuple[str, ...]
    log: Path


def sshd() -> str:
    """Return the path of the server's program; skip the test with the reason if there is none."""
    found = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        pytest.skip("no sshd here (Debian: openssh-server): clients on other hosts are not tried end to end")
    if shutil.which("ssh") is None:
        pytest.skip("no ssh here (Debian: openssh-client): clients on other hosts are not tried end to end")
    return found


@contextlib.contextmanager
def ssh_server(hosts: tuple[str, ...]) -> Iterator[SshServer]:
    """Start a server on a free port of 127.0.0.1 and yield it; end it and remove its files."""
    program = sshd()
    folder = Path(tempfile.mkdtemp(prefix="replay-sshd-"))
    process = None
    try:
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        _write_configuration(folder, port, hosts)
        command = [program, "-D", "-e", "-f", str(folder / "sshd_config")]
        if os.geteuid() == 0:
            command = _as_somebody_else(folder, command)
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        server = SshServer(folder / "bin", hosts, folder / "log")
        _await(process, port, server.log)
        yield server
    finally:
        if process is not None:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _write_configuration(folder: Path, port: int, hosts: tuple[str, ...]) -> None:
    (folder / "authorized_keys").write_text((folder / "user_key.pub").read_text())
    words = {
        "ListenAddress": f"127.0.0.1:{port}",
        "HostKey": folder / "host_key",
        "AuthorizedKeysFile": folder / "authorized_keys",
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
    }
    (folder / "sshd_config").write_text("".join(f"{name} {value}\n" for name, value in words.items()))
    key = (folder / "host_key.pub").read_text()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {key}")
    user = USER if os.geteuid() == 0 else subprocess.check_output(["id", "-un"], text=True).strip()
    words = {
        "HostName": "127.0.0.1",
        "Port": port,
        "User": user,
        "IdentityFile": folder / "user_key",
        "IdentitiesOnly": "yes",
        "UserKnownHostsFile": folder / "known_hosts",
    }
    lines = [f"Host {' '.join(hosts)}", *(f"  {name} {value}" for name, value in words.items())]
    (folder / "ssh_config").write_text("\n".join(lines) + "\n")
    (folder / "bin").mkdir()
    ssh = folder / "bin" / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
    ssh.chmod(0o755)


def _as_somebody_else(folder: Path, command: list[str]) -> list[str]:
    """Return the command that gives up root, in a mount namespace whose passwd knows the new user id."""
    passwd = Path("/etc/passwd").read_text()
    (folder / "passwd").write_text(f"{passwd}{USER}:x:{USER_ID}:{USER_ID}::{folder}:/bin/sh\n")
    folder.chmod(0o755)
    os.chown(folder / "host_key", USER_ID, USER_ID)
    become = f"setpriv --reuid {USER_ID} --regid {USER_ID} --clear-groups"
    script = f'mount --bind {folder}/passwd /etc/passwd && exec {become} "$@"'
    return ["unshare", "--mount", "sh", "-c", script, "sh", *command]


def _await(process: subprocess.Popen, port: int, log: Path) -> None:
    deadline = time.monotonic() + patient(20)
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        if process.poll() is not None or time.monotonic() > deadline:
            said = log.read_text(errors="replace").strip()
            if "unshare" in said or "mount:" in said:
                pytest.skip(f"no mount namespace here, so that no unprivileged sshd can be started by root: {said}")
            raise AssertionError(f"sshd did not come up: {said}")
        time.sleep(0.05)
