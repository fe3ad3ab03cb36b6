"""Drills without Ceph: altered evidence, hostile tables and requests, and an unfriendly machine."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from drills.drill import Drill, Ground
from replay.base.paths import ROOT
from support.patience import patient

SAMPLE = ROOT / "benchmarks" / "tentacle"
EXPERIMENT = "rados-threads"
REQUESTS, STREAMS = 500, 200


def altered_evidence(ground: Ground) -> str:
    """Whatever was altered is named by derive or by check, and the exit status is not 0."""
    folder = ground.campaign.folder
    untouched = folder / "untouched"
    untouched.mkdir()
    shutil.copy(SAMPLE / "campaign.json", untouched)
    shutil.copytree(SAMPLE / EXPERIMENT, untouched / EXPERIMENT)
    named = []
    for what, alter in ALTERATIONS.items():
        data_set = folder / "benchmarks" / "reference"
        shutil.rmtree(data_set, ignore_errors=True)
        shutil.copytree(untouched, data_set)
        if "derived" in what:
            assert ground.run("derive", "--data", "reference").returncode == 0
        altered = alter(data_set / EXPERIMENT)
        words = ("--verify",) if "derived" in what else ()
        done = ground.run("derive", "--data", "reference", *words)
        said = done.stdout + done.stderr
        assert done.returncode == (1 if words else 3), f"{what}: derive ended with {done.returncode}\n{said}"
        assert altered in said, f"{what}: nothing named {altered}\n{said}"
        assert "Traceback" not in said, said
        named.append(what)
    return f"derive named all of them: {', '.join(named)}"


def _pack(folder: Path) -> Path:
    return sorted((folder / "raw").glob("block-*.tar.gz"))[0]


def _flip(folder: Path) -> str:
    content = bytearray(_pack(folder).read_bytes())
    content[len(content) // 2] ^= 1
    _pack(folder).write_bytes(content)
    return _pack(folder).name


def _cut(folder: Path) -> str:
    pack = _pack(folder)
    pack.write_bytes(pack.read_bytes()[: pack.stat().st_size // 2])
    return pack.name


def _remove(folder: Path) -> str:
    pack = _pack(folder)
    pack.unlink()
    return pack.name


def _unlist(folder: Path) -> str:
    sums, name = folder / "raw" / "SHA256SUMS", _pack(folder).name
    sums.write_text("".join(line for line in sums.read_text().splitlines(keepends=True) if name not in line))
    return name


def _cut_sums(folder: Path) -> str:
    sums = folder / "raw" / "SHA256SUMS"
    sums.write_text(sums.read_text()[:-20])
    return "SHA256SUMS"


def _edit_figure(folder: Path) -> str:
    path = folder / "tidy.csv"
    path.write_text(re.sub(r"\d(?=\n)", "9", path.read_text(), count=3) + "\n")
    return path.name


ALTERATIONS: dict[str, Callable[[Path], str]] = {
    "a flipped bit": _flip,
    "a pack cut off": _cut,
    "a pack removed": _remove,
    "a pack unlisted": _unlist,
    "SHA256SUMS cut off": _cut_sums,
    "a derived figure edited": _edit_figure,
}


def hostile_files(ground: Ground) -> str:
    """Chapters and tables from a stranger: `check` names each, and what the server sends runs nothing."""
    talk = ground.campaign.folder / "talk"
    shutil.copytree(ROOT / "slides", talk / "slides")
    shutil.copytree(ROOT / "config", talk / "config")
    chapter = sorted((talk / "slides").glob("rpo/*.md"))[1]
    chapter.write_text(chapter.read_text() + "\n\n\n## Hostile\n\n" + "\n\n".join(HOSTILE_MARKDOWN) + "\n")
    done = subprocess.run(
        ["node", "scripts/check.mjs", "--no-layout"],
        cwd=ROOT,
        env={**ground.environment, "REPLAY_TALK": str(talk), "REPLAY_BENCHMARKS": str(ROOT / "benchmarks")},
        capture_output=True,
        text=True,
        check=False,
        timeout=patient(300),
    )
    said = done.stdout + done.stderr
    assert done.returncode != 0, "check has nothing against a hostile chapter"
    unnamed = [word for word in HOSTILE_WORDS if word not in said]
    assert not unnamed, f"check does not mention {unnamed}:\n{said[-3000:]}"
    return f"check named {len(HOSTILE_WORDS)} kinds of element and attribute that the deck removes"


HOSTILE_MARKDOWN = (
    "<script>document.title = 'run'</script>",
    '<iframe src="https://example.org/"></iframe>',
    '<img src="https://example.org/pixel.png" onerror="alert(1)" alt="a picture">',
    '<object data="x.swf"></object>',
)
HOSTILE_WORDS = ("script", "iframe", "onerror", "object")


def hostile_requests(ground: Ground) -> str:
    """The server answers what it is asked within its folders, refuses the rest, and stays where it is: on loopback."""
    folder = ground.campaign.folder
    outside = folder / "secret.txt"
    outside.write_text("not for you")
    data_set = folder / "benchmarks" / "mine"
    data_set.mkdir(parents=True)
    (data_set / "link.csv").symlink_to(outside)
    os.mkfifo(data_set / "pipe.csv")
    with present(ground) as url:
        address = urlsplit(url)
        for path in (
            "/../secret.txt",
            "/%2e%2e/secret.txt",
            "/benchmarks/..%2f..%2fsecret.txt",
            "/benchmarks/mine/link.csv",
            "/benchmarks/mine/pipe.csv",
            "/benchmarks/%00",
            "/" + "a" * 200_000,
        ):
            status, body = ask(address.port, path)
            assert status in (400, 403, 404, 414, 431), f"{path[:40]} is answered with {status}"
            assert b"not for you" not in body
        assert ask(address.port, "/", host="evil.example.org")[0] in (400, 403, 421)
        assert ask(address.port, "/", method="POST")[0] in (403, 404, 405)
        listening = [one for one in _listening(address.port) if not one.startswith(("127.", "::1", "[::1]"))]
        assert not listening, f"it listens on {listening}"
        slow = [_slow_client(address.port) for _ in range(20)]
        streams = [_stream(address.port) for _ in range(STREAMS)]
        assert streams[-1].recv(15).startswith(b"HTTP/1.1 200")
        with ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(lambda _: ask(address.port, "/")[0], range(REQUESTS)))
        assert answers == [200] * REQUESTS, f"{sum(one != 200 for one in answers)} requests were not answered"
        for one in (*slow, *streams):
            one.close()
        assert ask(address.port, "/")[0] == 200
    return f"{REQUESTS} requests beside {STREAMS} streams and {len(slow)} slow clients, 9 attacks refused"


@contextlib.contextmanager
def present(ground: Ground) -> Iterator[str]:
    """Serve the deck; yield its address."""
    argv = ["node", "scripts/present.mjs", "--no-open", "--port", "0"]
    with subprocess.Popen(argv, cwd=ROOT, env=ground.environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield _address(server.stdout)
        finally:
            threading.Thread(target=server.stdout.read, daemon=True).start()
            server.terminate()


def _address(said: Iterable[str]) -> str:
    lines = []
    for line in said:
        lines.append(line)
        if found := re.search(r"http://127\.0\.0\.1:\d+/", line):
            return found[0]
    raise AssertionError(f"the deck is not served: {''.join(lines)}")


def ask(port: int, path: str, *, host: str | None = None, method: str = "GET") -> tuple[int, bytes]:
    """Return status and body of an answer. The path is sent as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patient(60))
    try:
        connection.putrequest(method, path.replace("\0", ""), skip_host=host is not None)
        if host is not None:
            connection.putheader("Host", host)
        connection.endheaders()
        answer = connection.getresponse()
        try:
            return answer.status, answer.read()
        except ConnectionResetError:
            return answer.status, b""  # it did not want to read all of the question
    finally:
        connection.close()


def _stream(port: int) -> socket.socket:
    one = socket.create_connection(("127.0.0.1", port))
    one.sendall(
        f"GET /__replay/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n\r\n".encode()
    )
    return one


def _slow_client(port: int) -> socket.socket:
    one = socket.create_connection(("127.0.0.1", port))
    one.sendall(b"GET / HTTP/1.1\r\nHo")
    return one


def _listening(port: int) -> list[str]:
    found = []
    for table, family in (("/proc/net/tcp", socket.AF_INET), ("/proc/net/tcp6", socket.AF_INET6)):
        for line in Path(table).read_text().splitlines()[1:]:
            words = line.split()
            address, _, number = words[1].partition(":")
            if int(number, 16) == port and words[3] == "0A":
                raw = b"".join(bytes.fromhex(address[at : at + 8])[::-1] for at in range(0, len(address), 8))
                found.append(socket.inet_ntop(family, raw))
    return found


def surroundings(ground: Ground) -> str:
    """A folder of somebody else's, a broken state file, a busy port and another user: a sentence each, no harm done."""
    folder = ground.campaign.folder
    junk = folder / "junk"
    junk.mkdir()
    (junk / "thesis.txt").write_text("years of work")
    for words in (("up", "--directory", str(junk)), ("down", "--directory", str(junk))):
        _refused(ground.run("sandbox", *words), str(junk))
    assert (junk / "thesis.txt").read_text() == "years of work"
    broken = folder / "broken"
    broken.mkdir()
    for name in ("sandbox.json", "state.json"):
        (broken / name).write_text('{"cut off')
    _refused(ground.run("sandbox", "status", "--directory", str(broken)), str(broken))
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        argv = ["node", "scripts/present.mjs", "--no-open", "--port", str(port)]
        with subprocess.Popen(argv, cwd=ROOT, env=ground.environment, stdout=subprocess.PIPE, text=True) as server:
            line = server.stdout.readline()
            server.terminate()
            server.stdout.read()
        assert f"Port {port} is busy; using " in line, line
    (folder / "benchmarks" / "closed").mkdir(parents=True)
    (folder / "benchmarks").chmod(0o700)
    if os.geteuid() == 0:
        done = subprocess.run(
            [
                "setpriv",
                "--reuid=65534",
                "--clear-groups",
                sys.executable,
                "-m",
                "replay",
                "derive",
                "--data",
                "closed",
            ],
            cwd="/",
            env=ground.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        _refused(done, "")
    return "junk and a broken state file are refused and named, the next port is taken, another user reads why"


def _refused(done: subprocess.CompletedProcess[str], word: str) -> None:
    said = done.stdout + done.stderr
    assert done.returncode != 0, said
    assert "Traceback" not in said, said
    assert said.strip(), "nothing is said"
    assert word in said, f"{word} is not named:\n{said}"


DRILLS = (
    Drill("D10", "raw and derived files are altered", altered_evidence, needs_sandbox=False),
    Drill("D11", "a chapter with scripts, frames and remote pictures", hostile_files, needs_sandbox=False),
    Drill("D13", "hostile and many requests to the present server", hostile_requests, needs_sandbox=False),
    Drill("D15", "junk, a broken state file, a busy port, another user", surroundings, needs_sandbox=False),
)
