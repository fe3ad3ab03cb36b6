"""One grammar: every command, its options, and the answers to wrong ones. Nothing here needs a cluster."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from replay.base.paths import ROOT
from replay.cli.main import COMMANDS, SHELLS, main, whole_grammar
from replay.cluster.sandbox_options import SandboxOptions
from replay.cluster.sandbox_record import Sandbox

#: What the help of each command names: an option that went would break somebody's script.
OPTIONS = {
    "init": "DIR",
    "look": "--conf --sandbox --second --client --keyring --client-release --write-site",
    "preflight": "--site --scale --experiment --data --write-probe --json --format",
    "measure": "--site --data --scale --experiment --only --blocks --into-shipped --profile --dry-run --plan-only",
    "interleave": "--release --data --scale --experiment --blocks --into-shipped --dry-run",
    "derive": "--data --experiment --force --entities --watch --verify --outliers",
    "claims": "--data --against --experiment --measured --brief --ratios --json --expect",
    "report": "--data --out",
    "import": "DIR --data --label --variants --repetitions --dry-run --left-out",
    "compare": "NAME OTHER --experiment --only --out --json --fail-if",
    "talk": "NAME --out --title --look --experiment --metric --layers",
    "new": "experiment claim slide tool",
    "bundle": "--data --out --label --replace --list",
    "clean": "--site --yes --record --data",
    "sandbox": "up status down link conf releases",
    "raw": "ls cat unpack verify",
}


def ends(arguments: list[str]) -> int:
    """Return the status with which argparse ends the program."""
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    return raised.value.code


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_every_option_of_a_command(name, capsys):
    assert ends([name, "--help"]) == 0
    words = re.split(r"[^\w-]+", capsys.readouterr().out)
    assert [option for option in OPTIONS[name].split() if option not in words] == []


def test_help_names_every_command_and_so_does_the_bare_word(capsys):
    assert ends(["--help"]) == 0
    text = capsys.readouterr().out
    assert [name for name in COMMANDS if f"\n    {name}" not in text] == []
    assert main([]) == 0
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mesure"], "there is no command 'mesure'\n  next: did you mean 'measure'?"),
        (["zzz"], "there are: init, look"),
        (["sandbox", "upp"], "did you mean 'up'?"),
        (["sandbox", "conf", "middle"], "sandbox conf: cluster middle: expected one of left, right\n"),
        (["--verison"], "did you mean '--version'?"),
        (["measure", "--dta", "x"], "there is no option --dta\n  next: did you mean '--data'?"),
        (["measure", "--exp", "x", "--site", "s"], "there is no option --exp"),
        (["measure", "--site", "sandbox", "--scale", "quik"], "did you mean 'quick'?"),
        (["measure"], "measure: one of --site --plan is missing\n"),
        (["measure", "--site"], "measure: --site wants a value\n"),
        (["measure", "--site", "s", "--dry-run=yes"], "measure: --dry-run takes no value\n"),
        (["measure", "--site", "s", "--blocks", "x"], "measure: --blocks: 'x' is not a whole number above 0\n"),
        (["measure", "--site", "s", "--blocks", "0"], "measure: --blocks: '0' is not a whole number above 0\n"),
        (["interleave", "--blocks", "-1"], "interleave: --blocks: '-1' is not a whole number above 0\n"),
        (["sandbox", "up", "--left-osds", "x"], "sandbox up: --left-osds wants a whole number, not 'x'\n"),
        (["measure", "--site", "s", "more"], "'more' is not understood: options begin with --\n"),
        (["derive"], "derive: --data is missing\n"),
        (
            ["measure", "--site", "sandbox", "--data", "Bad_Name", "--dry-run"],
            "'Bad_Name' is not a valid data set name",
        ),
        (["derive", "--data", "../elsewhere"], "is not a valid data set name"),
        (["claims", "--data", "a", "--brief", "--json"], "--json does not go with --brief\n"),
        (["sandbox", "up", "--left-osd-size", "huge"], "huge"),
    ],
)
def test_wrong_use_ends_with_status_2_what_is_wrong_and_the_next_step(arguments, said, capsys):
    assert ends(arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "\n  next: " in err
    assert "--help\n" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("name", ["claims", "derive"])
def test_a_data_set_that_does_not_exist_is_answered_with_the_one_that_was_meant(name, capsys):
    assert main([name, "--data", "tentakle"]) == 3
    assert "did you mean 'tentacle'?" in capsys.readouterr().err


def test_a_site_and_an_experiment_that_do_not_exist_are_answered_in_the_same_way(capsys):
    assert main(["preflight", "--site", "exampel"]) == 2
    assert "did you mean 'example'?" in capsys.readouterr().err
    assert main(["claims", "--data", "tentacle", "--experiment", "rbd-jurnaling"]) == 2
    assert "did you mean 'rbd-journaling'?" in capsys.readouterr().err


def test_the_version_is_one_for_both_halves(capsys):
    assert main(["--version"]) == 0
    said = capsys.readouterr().out
    python = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    node = json.loads((ROOT / "package.json").read_text())["version"]
    assert said == f"replay {python}\n"
    assert node == python


@pytest.mark.parametrize(
    ("arguments", "level"),
    [
        ([], "nothing"),
        (["init"], "nothing"),
        (["derive", "--data", "x"], "derive"),
        (["claims", "--data", "x"], "derive"),
        (["measure", "--site", "sandbox"], "sandbox"),
        (["measure", "--site=mine"], "client"),
        (["look"], "client"),
        (["look", "--client-release", "18"], "derive"),
        (["look", "--sandbox"], "sandbox"),
        (["preflight", "--site", "mine"], "client"),
        (["clean", "--site", "sandbox"], "sandbox"),
        (["sandbox", "up"], "sandbox"),
        (["sandbox", "status"], "nothing"),
    ],
)
def test_a_command_says_what_it_needs_before_anything_is_installed(arguments, level, capsys):
    assert main(["--setup-level", *arguments]) == 0
    assert capsys.readouterr().out == f"{level}\n"


@pytest.mark.parametrize(
    ("words", "level"),
    [
        ([], "nothing"),
        (["--directory", "{folder}"], "nothing"),
        (["--release", "host"], "sandbox"),
        (["--directory", "{folder}/absent"], "sandbox"),
        (["--name", "../else"], "sandbox"),
    ],
)
def test_a_sandbox_of_a_fetched_release_is_started_without_the_hosts_ceph(tmp_path, monkeypatch, words, level, capsys):
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(tmp_path))
    Sandbox(str(tmp_path), str(tmp_path), "18.2.7", SandboxOptions(release="18"), {}, phase="created").save()
    assert main(["--setup-level", "sandbox", "up", *(word.format(folder=tmp_path) for word in words)]) == 0
    assert capsys.readouterr().out == f"{level}\n"


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("sandbox: author  # of the host's Ceph", "sandbox"),
        ("sandbox: 'fetched'", "derive"),
        ("client_release: reef", "derive"),
        ("client_release: host", "client"),
        ("label: sandbox", "client"),
    ],
)
def test_a_site_needs_nothing_that_its_sandbox_or_release_brings(tmp_path, monkeypatch, line, level, capsys):
    sites, folder = tmp_path / "config" / "sites", tmp_path / ".replay" / "sandbox" / "fetched"
    for each in (sites, folder):
        each.mkdir(parents=True)
    (sites / "mine.yaml").write_text(f"name: mine\n{line}\n")
    Sandbox(str(folder), str(folder), "18.2.7", SandboxOptions(release="18"), {}, phase="created").save()
    monkeypatch.delenv("REPLAY_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["--setup-level", "measure", "--site", "mine"]) == 0
    assert capsys.readouterr().out == f"{level}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_function_that_runs_a_command_exists(name):
    module, _, function = COMMANDS[name].run.partition(":")
    assert callable(getattr(importlib.import_module(module), function))


def test_the_grammar_needs_the_standard_library_only():
    code = (
        "import sys; from replay.cli.main import whole_grammar; whole_grammar().format_help();"
        "print([n for n, m in sys.modules.items() if 'site-packages' in str(getattr(m, '__file__', ''))])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_locale_that_lacks_a_sign_has_it_spelled_out(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="iso-8859-1")
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["--version"]) == 0
    print("2 \u2260 3", flush=True)
    assert stream.buffer.getvalue().endswith(b"2 \\u2260 3\n")


@pytest.mark.slow
def test_a_reader_that_goes_away_is_not_an_error():
    """`replay claims … | head`: a closed pipe is no reason for a traceback."""
    argv = [sys.executable, "-m", "replay", "claims", "--data", "tentacle", "--json"]
    # A pipe of one page, read byte by byte: most of the output is not yet written when the reader goes away.
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, pipesize=4096) as process:
        assert process.stdout.readline() == b"{\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.parametrize("arguments", [["claims", "--data=tentacle"], ["preflight", "--site=example"], ["--help"]])
def test_output_in_a_pipe_has_no_escape_codes(arguments, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with contextlib.suppress(SystemExit):
        main(arguments)
    said = capsys.readouterr()
    assert said.out
    assert "\x1b" not in said.out + said.err


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("sandbox", "raw")])
def test_after_an_interruption_a_command_says_what_is_kept(name, monkeypatch, capsys):
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("replay.cli.grammar._function", lambda _: interrupted)
    required = {"init": ["x"], "derive": ["--data", "x"], "claims": ["--data", "x"], "bundle": ["--data", "x"]}
    required["import"] = ["x", "--data", "x"]
    required["compare"] = ["x", "y"]
    required["report"] = ["--data", "x", "--out", "y"]
    required["talk"] = ["x", "--out", "y"]
    required["new"] = ["claim", "x"]
    required["interleave"] = ["--release", "16", "--release", "18"]
    required["look"] = ["--sandbox"]
    assert main([name, *required.get(name, ["--site", "x"])]) == 130
    said = capsys.readouterr().err
    assert said.startswith("interrupted; ")
    assert COMMANDS[name].kept in said


def test_the_version_is_looked_up_only_when_asked_for(monkeypatch, capsys):
    monkeypatch.setattr("replay.cli.main.version", lambda: "1.2.3")
    assert (main(["--version"]), capsys.readouterr().out) == (0, "replay 1.2.3\n")

    def missing():
        raise FileNotFoundError

    monkeypatch.setattr("replay.cli.main.version", missing)
    assert whole_grammar().parse_args(["sandbox", "status"]).command == "sandbox"


# Shell completion: the scripts are valid, and offer what exists -------------------------------------------------------


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_is_valid_and_names_the_command(shell, capsys, tmp_path):
    assert main(["--completion", shell]) == 0
    script = capsys.readouterr().out
    assert "replay" in script
    (tmp_path / "script").write_text(script)
    if shutil.which(shell) is None:
        assert shell != "bash", "bash is what scripts/setup needs itself"
        pytest.skip(f"{shell} is not installed: the script was made, and not parsed")
    done = subprocess.run([shell, "-n", str(tmp_path / "script")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def offered(line: str, tmp_path) -> set[str]:
    """Return what the shell would offer at the end of a line, by the protocol of argcomplete's scripts."""
    target = tmp_path / "offered"
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(target),
        "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    done = subprocess.run([str(ROOT / "replay")], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "", done.stderr
    return {word.strip() for word in target.read_text().split("\n")}


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("./replay me", "measure"),
        ("./replay measure --sc", "--scale"),
        ("./replay measure --scale ", "talk"),
        ("./replay measure --site san", "sandbox"),
        ("./replay derive --data tent", "tentacle"),
        ("./replay claims --data tentacle --experiment rbd-j", "rbd-journaling"),
        ("./replay sandbox ", "status"),
    ],
)
def test_commands_options_and_names_are_offered(line, word, tmp_path):
    assert word in offered(line, tmp_path)


def test_outside_of_a_project_no_name_is_offered_and_nothing_fails(tmp_path):
    code = (
        "import replay.base.paths as paths; paths.ROOT = None\n"
        "from replay.cli.grammar import _names; print(list(_names(paths.benchmarks_directory, '*/')))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
