"""Replay's image: built from Debian's packages, and a container that measures a sandbox of this machine."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from replay.base.paths import ROOT
from replay.sandbox.release_sources import debian_archive, mmdebstrap
from replay.tools.programs import programs
from support.campaign import Campaign
from support.patience import patient

FILE = ROOT / "scripts" / "container" / "Containerfile"
CONTAINERFILE = FILE.read_text()
#: What goes into the image: Docker and podman look for it beside the file, by its name.
IGNORED = FILE.with_name("Containerfile.dockerignore").read_text().splitlines()
ENTER = ROOT / "tests" / "setup" / "support" / "enter-system"
IMAGE, BASE = "localhost/replay-test", "localhost/replay-test-base"
PODMAN = "podman,crun,fuse-overlayfs,netavark,ca-certificates"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def test_the_image_installs_the_programs_of_a_client_and_the_uv_of_the_set_up():
    packages = " ".join(re.findall(r"apt-get install -qy --no-install-recommends ((?:[^&]|\\\n)*)", CONTAINERFILE))
    assert {"ceph-common", "python3-rados", "openssh-client", "util-linux"} <= set(packages.split())
    listed, named = "python3 -B -S -m replay.tools.programs >/programs", '$(cut -d " " -f 2 /programs)'
    assert CONTAINERFILE.index(listed) < CONTAINERFILE.index(named), "the tools' packages are those that they name"
    [wanted] = re.findall(r"^wanted_uv=(.+)$", (ROOT / "scripts/setup.d/environments.sh").read_text(), re.MULTILINE)
    assert f'"uv=={wanted}"' in CONTAINERFILE
    assert "uv sync --locked" in CONTAINERFILE


def test_no_site_s_file_goes_into_the_image():
    """Such a file names hosts, users and paths."""
    assert IGNORED[0] == "*", "only what is named goes in"
    assert IGNORED.index("config/sites/*") > IGNORED.index("!config")
    shipped = {f"!config/sites/{path.name}" for path in (ROOT / "config/sites").glob("*.yaml") if tracked(path)}
    assert {line for line in IGNORED if line.startswith("!config/sites/")} == shipped


def tracked(path: Path) -> bool:
    return subprocess.run(["git", "ls-files", "--error-unmatch", path], cwd=ROOT, capture_output=True).returncode == 0


def test_what_the_image_is_built_from_is_let_in():
    let_in = {line[1:] for line in IGNORED if line.startswith("!")}
    lines = re.findall(r"^COPY ([^-].*)$", CONTAINERFILE, re.MULTILINE)
    copied = {word for line in lines for word in line.split()[:-1]}
    assert copied
    assert copied <= let_in


@dataclass(frozen=True)
class Podman:
    """This machine's podman, or that of a Debian 13 in a folder, which sees `shared` at the same place."""

    system: Path | None
    shared: Path

    def run(self, *arguments: object, seconds: float) -> str:
        """Run podman; return what it says on both streams, and fail if it fails."""
        done = self._run(*arguments, seconds=seconds)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def has(self, image: str) -> bool:
        """Return whether an image of this name exists."""
        return self._run("image", "exists", image, seconds=60).returncode == 0

    def _run(self, *arguments: object, seconds: float) -> subprocess.CompletedProcess[str]:
        script = '[ ! -d /sys/fs/cgroup/unified ] || umount /sys/fs/cgroup/unified; exec podman "$@"'
        argv = ["podman", *map(str, arguments)]
        environment = dict(os.environ)
        if self.system:  # with the environment of this process, which podman does not hand on
            argv = [str(ENTER), str(self.system), "sh", "-c", script, *argv]
            folder = {"SHARED_FOLDERS": str(self.shared).lstrip("/"), "HOME": "/root"}
            environment |= {**folder, "PODMAN_IGNORE_CGROUPSV1_WARNING": "1"}
        return subprocess.run(
            argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            text=True,
            timeout=patient(seconds),
            check=False,
        )


@pytest.fixture
def folder(run_folder):
    """A folder on a disk, which podman can see."""
    return Path(tempfile.mkdtemp(prefix="container-", dir=run_folder))


@pytest.fixture
def podman(folder):
    """This machine's podman, else one that is fetched once."""
    if shutil.which("podman"):
        return Podman(None, folder)
    if os.geteuid() != 0:
        pytest.skip("neither podman nor root, who could unpack one, is here: the image is not built")
    # With the images in it, it is kept for the next time.
    system = ROOT / ".cache" / "podman"
    if not system.exists():
        system.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="podman-", dir=system.parent) as scratch:
            debian(Path(scratch) / "system", "trixie", PODMAN)
            (Path(scratch) / "system").rename(system)
    # Where root may not raise limits, a container may not either.
    limits = [
        f"{name}={resource.getrlimit(number)[1]}:{resource.getrlimit(number)[1]}"
        for name, number in (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC))
    ]
    conf = system / "etc" / "containers" / "containers.conf"
    conf.parent.mkdir(parents=True, exist_ok=True)
    conf.write_text(f"[containers]\ndefault_ulimits = {limits}\n".replace("'", '"'))
    for file in ("resolv.conf", "machine-id"):
        shutil.copy(Path("/etc") / file, system / "etc" / file)
    return Podman(system, folder)


def debian(made: Path, suite: str, packages: str) -> None:
    """Make a Debian system in a folder."""
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile("w+") as log:
        program = mmdebstrap(Path(scratch), log)
        argv = [program, "--variant=minbase", f"--include={packages}", suite, str(made), debian_archive()]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=patient(300), check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def suite_of_this_host() -> str:
    release = Path("/etc/os-release").read_text()
    return re.search(r"^VERSION_CODENAME=(\w+)$", release, re.MULTILINE)[1]


@pytest.fixture
def campaign(folder, sandbox_directory):
    (folder / "project").mkdir()
    made = Campaign(folder / "project", sandbox_directory)
    yield made
    assert made.images() == {"left": [], "right": []}, "a container left an image behind"


def mounted_cluster(campaign: Campaign, folder: Path) -> None:
    """Write what a container sees as /etc/ceph: a conf that names the monitors, and the key of a restricted user."""
    folder.mkdir()
    left = campaign.cluster("left")
    conf = [line for line in left.conf.read_text().splitlines() if re.match(r"\s*(fsid|mon_host) =", line)]
    (folder / "ceph.conf").write_text("\n".join(["[global]", *conf, ""]))
    caps = ("mon", "profile rbd", "osd", "profile rbd pool=replay", "mgr", "profile rbd pool=replay")
    key = left.run("ceph", "auth", "get-or-create", "client.boxed", *caps).stdout
    (folder / "ceph.client.boxed.keyring").write_text(key)
    (folder / "ceph.client.boxed.keyring").chmod(0o600)


def write_site(campaign: Campaign) -> None:
    site = {
        "name": "boxed",
        "label": "Boxed",
        "limitation": "A test.",
        "cluster": {
            "conf": "/etc/ceph/ceph.conf",
            "client": "client.boxed",
            "keyring": "/etc/ceph/ceph.client.boxed.keyring",
        },
        "pools": {"data": {"name": "replay"}},
        "client_hosts": ["localhost"],
        "allows": ["client_hosts"],
    }
    (campaign.folder / "config" / "sites" / "boxed.yaml").write_text(yaml.safe_dump(site))


@pytest.mark.hosts
def test_a_container_measures_with_conf_and_keyring_mounted_and_leaves_results_in_the_mounted_folder(
    podman, campaign, folder
):
    suite = suite_of_this_host()
    if not podman.has(f"{BASE}:{suite}"):
        base = folder / "base.tar"
        debian(base, suite, "ca-certificates")
        podman.run("import", base, f"{BASE}:{suite}", seconds=120)
    trusted = [folder / "ca-certificates.crt", "/etc/ssl/certs/ca-certificates.crt"]
    shutil.copy(CERTIFICATES, trusted[0])
    context = folder / "source"
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    context.mkdir()
    subprocess.run(["tar", "-x", "-C", context], input=archive, check=True)
    options = ("--isolation=chroot", "--network=host", f"--build-arg=BASE={BASE}:{suite}")
    options += (f"--file={context / FILE.relative_to(ROOT)}", f"--volume={trusted[0]}:{trusted[1]}:ro")
    podman.run("build", *options, f"--tag={IMAGE}", context, seconds=900)

    ceph = folder / "ceph"
    mounted_cluster(campaign, ceph)

    def replay(*words: str) -> str:
        mounts = (f"--volume={campaign.folder}:/project", f"--volume={ceph}:/etc/ceph:ro")
        same_machine = "--volume=/etc/machine-id:/etc/machine-id:ro"
        run = ("run", "--rm", "--network=host", "--cgroups=disabled", *mounts, same_machine)
        said = podman.run(*run, IMAGE, *words, seconds=400)
        print("$ replay", *words, f"\n{said}")
        return said

    assert replay("--version").startswith("replay ")
    for program in programs():
        run = ("run", "--rm", "--network=host", "--cgroups=disabled", f"--entrypoint={program.name}")
        podman.run(*run, IMAGE, *program.version_arguments, seconds=60)
    replay("init", ".")
    experiment = "client-sweep"
    campaign.configure(experiment, target_seconds=1, image_size_bytes=8 << 20, factors={"clients": [1]})
    write_site(campaign)
    assert "Measuring may start." in replay("preflight", "--site", "boxed", "--data", "trial")
    said = replay("measure", *campaign.measure_arguments(experiment, site="boxed"))
    assert (campaign.folder / "benchmarks" / "trial" / experiment / "tidy.csv").exists(), said
    sidecars = campaign.sidecars(experiment)
    assert sidecars, said
    assert all(one["valid"] for one in sidecars)
    assert list((campaign.folder / ".replay" / "state").rglob("*.jsonl")), "the ledger outlives the container"
    assert "nothing to remove" in replay("clean", "--site", "boxed", "--yes")
    evidence = campaign.evidence(experiment)
    for word in ("client.boxed", str(folder), "/project", f"<{os.uname().nodename}>"):
        assert word.encode() not in evidence
