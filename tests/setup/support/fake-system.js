// A made-up system for scripts/setup: a checkout, a root folder, and a PATH with only fakes and coreutils.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { temporaryFolder } from "../../support/folders.mjs";
import { patient } from "../../support/patience.mjs";

const PROJECT = path.resolve(import.meta.dirname, "../../..");
const TOOLS =
  "bash cat chmod cut dirname env find flock grep head id ls mkdir rm sed sh sha256sum sleep tail tee touch tr true wc".split(
    " ",
  );
const SANDBOX_PROGRAMS =
  "ceph rbd rados fio ceph-mon ceph-osd ceph-mgr rbd-mirror monmaptool ceph-authtool iperf3".split(" ");
/** What `python3 -m replay.tools.programs` prints: a program, its package, and arguments. */
const TOOL_PROGRAMS = ["fio fio --version", "iperf3 iperf3 -v", "rados ceph-common -v", "rbd ceph-common -v"];

export class FakeSystem {
  /** A system with Python and apt for root, without Ceph and without a browser. */
  constructor(t) {
    this.folder = temporaryFolder(t);
    this.bin = path.join(this.folder, "bin");
    this.root = path.join(this.folder, "root");
    this.checkout = path.join(this.folder, "checkout");
    this.calls = path.join(this.folder, "calls");
    mkdirSync(this.bin);
    for (const name of ["proc", "etc/ceph", "var/lib/ceph/osd", "usr/sbin"]) {
      mkdirSync(path.join(this.root, name), { recursive: true });
    }
    for (const name of ["scripts/setup", "scripts/setup.d"]) {
      cpSync(path.join(PROJECT, name), path.join(this.checkout, name), { recursive: true });
    }
    for (const name of ["uv.lock", "pyproject.toml"]) this.write(`checkout/${name}`, name);
    for (const name of TOOLS) {
      const real = ["/usr/bin", "/bin"].map((folder) => path.join(folder, name)).find(existsSync);
      symlinkSync(real, path.join(this.bin, name));
    }
    this.program("id", "echo 0");
    this.python("3.12.1");
    this.program("uv", `case $1 in --version) echo "uv 0.13.9 (linux)";; *) ${this.#makesVenv()};; esac`);
    this.program("apt-cache", 'printf "%s:\\n  Candidate: 1.0\\n" "$2"');
    // Packages that apt installs exist afterwards.
    this.program(
      "apt-get",
      `[ -e "${this.root}/usr/sbin/policy-rc.d" ] && echo denied >>"${this.folder}/policy"\nexit 0`,
    );
  }

  #makesVenv() {
    const python = `${this.checkout}/.venv/bin/python`;
    return `mkdir -p "${path.dirname(python)}"; cat "${this.bin}/python3" >"${python}"; chmod +x "${python}"`;
  }

  write(name, text) {
    const file = path.join(this.folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** Puts a shell script on the PATH that notes each call of it. */
  program(name, body = "exit 0") {
    const file = path.join(this.bin, name);
    rmSync(file, { force: true });
    writeFileSync(file, `#!/bin/sh\necho "${name} $*" >>"${this.calls}"\n${body}\n`);
    chmodSync(file, 0o755);
  }

  /**
   * Puts a python3 of this version on the PATH; `venv` says whether it can make environments, `programs` which ones the
   * benchmark tools name.
   */
  python(version, { venv = true, programs = TOOL_PROGRAMS } = {}) {
    const short = version.split(".").slice(0, 2).join(".");
    this.program(
      "python3",
      `case "$*" in
        *%d.%d.%d*) echo ${version} ;;
        *replay.tools.programs) printf '%s\\n' ${programs.map((line) => `"${line}"`).join(" ")} ;;
        *"import venv"*) exit ${venv ? 0 : 1} ;;
        *-venv*) echo python${short}-venv ;;
        "-m venv"*) mkdir -p "$4/bin"; printf '#!/bin/sh\\n' >"$4/bin/python"; chmod +x "$4/bin/python" ;;
      esac`,
    );
  }

  without(name) {
    rmSync(path.join(this.bin, name));
  }

  /** Puts every program that a sandbox needs on the PATH. */
  installCeph() {
    for (const name of SANDBOX_PROGRAMS) this.program(name);
  }

  process(pid, name, argv = [name]) {
    this.write(`root/proc/${pid}/comm`, `${name}\n`);
    this.write(`root/proc/${pid}/cmdline`, argv.map((word) => `${word}\0`).join(""));
  }

  /** Runs scripts/setup; returns its status, what it printed, and the calls of fakes, one a line. */
  setup(...args) {
    rmSync(this.calls, { force: true });
    const done = spawnSync(path.join(this.checkout, "scripts/setup"), args, {
      encoding: "utf8",
      env: { PATH: this.bin, REPLAY_SETUP_ROOT: this.root, HOME: this.folder },
      timeout: patient(20_000),
    });
    const calls = existsSync(this.calls) ? readFileSync(this.calls, "utf8").trim().split("\n") : [];
    return {
      status: done.status,
      out: done.stdout,
      lines: done.stdout.trimEnd().split("\n"),
      error: done.stderr,
      calls,
      // The calls that change something, as opposed to those that only ask.
      changes: calls.filter((call) =>
        /^(apt-get|uv sync|sudo .*apt-get|systemctl|\S+ -m (venv|pip))/.test(call),
      ),
    };
  }
}
