import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

import { FakeSystem } from "./support/fake-system.js";

describe("a fresh Debian", () => {
  it("is told what will be installed before anything is", (t) => {
    const system = new FakeSystem(t);
    system.program("apt-get", 'echo "apt-get runs" >&2; exit 0');
    const check = system.setup("--check");
    assert.equal(check.status, 0);
    assert.deepEqual(check.changes, []);

    const { status, lines } = system.setup();
    assert.equal(status, 0);
    const said = lines.findIndex((line) => line.startsWith("  - packages of this system: ceph-common"));
    const done = lines.findIndex((line) => line.includes("installing"));
    assert.ok(said >= 0 && done > said, lines.join("\n"));
    assert.deepEqual(check.lines, lines.slice(0, check.lines.length));
  });

  it("gets Ceph, fio and the checkout's own environments, without recommended packages", (t) => {
    const { changes } = new FakeSystem(t).setup();
    const install = changes.find((call) => call.startsWith("apt-get") && !call.includes("--download-only"));
    for (const name of [
      "ceph-mon",
      "ceph-osd",
      "ceph-mgr",
      "ceph-common",
      "rbd-mirror",
      "fio",
      "iperf3",
      "python3-rados",
    ])
      assert.match(install, new RegExp(` ${name}( |$)`));
    assert.match(install, /--no-install-recommends/);
    assert.doesNotMatch(install, /chromium/);
    assert.ok(changes.some((call) => call.startsWith("uv sync --locked")));
  });

  it("gets the package that a benchmark tool's module names", (t) => {
    const system = new FakeSystem(t);
    system.installCeph();
    system.python("3.12.1", { programs: ["fio fio --version", "newbench newbench-tools -V"] });
    const { out } = system.setup("--for", "client", "--check");
    assert.match(out, /^ {2}- packages of this system: newbench-tools$/m);
  });

  it("is told why, where the benchmark tools' modules cannot be read", (t) => {
    const system = new FakeSystem(t);
    system.program("python3", 'case "$*" in *%d*) echo 3.12.1 ;; *) echo "SyntaxError" >&2; exit 1 ;; esac');
    const { status, error, changes } = system.setup();
    assert.equal(status, 1);
    assert.match(error, /SyntaxError\nsetup: the programs of the benchmark tools cannot be listed\n/);
    assert.deepEqual(changes, []);
  });

  it("gets a browser and sshd only for the tests", (t) => {
    const { changes } = new FakeSystem(t).setup("--for", "test");
    assert.ok(changes.some((call) => call.includes("chromium") && call.includes(" openssh-server")));
    assert.ok(new FakeSystem(t).setup().changes.every((call) => !/chromium|openssh/.test(call)));
  });

  const browsers = ["chromium-headless-shell", "chromium", "chromium-browser"];
  for (const [system, name, lacking] of [
    ["Debian", "chromium-headless-shell", "chromium-browser"],
    ["a system without that of Debian", "chromium", "chromium-headless-shell"],
    ["Ubuntu", "chromium-browser", "chromium-headless-shell|chromium"],
  ])
    it(`gets the browser by its name on ${system}, also where there are no package lists yet`, (t) => {
      const made = new FakeSystem(t);
      const updated = path.join(made.folder, "updated");
      made.program(
        "apt-cache",
        `case "$2" in ${lacking}) version="(none)" ;; *) version=1.0 ;; esac\n` +
          `[ -e ${updated} ] || version="(none)"\nprintf '  Candidate: %s\\n' "$version"`,
      );
      made.program("apt-get", `case "$*" in *update*) : >${updated} ;; esac`);
      const { status, changes } = made.setup("--for", "test");
      assert.equal(status, 0);
      const install = changes.find((call) => / install .*openssh-server/.test(call));
      assert.deepEqual(
        install.split(" ").filter((word) => browsers.includes(word)),
        [name],
      );
    });

  it("keeps an existing sshd outside of the user's path", (t) => {
    const system = new FakeSystem(t);
    writeFileSync(path.join(system.root, "usr/sbin/sshd"), "", { mode: 0o755 });
    const { changes } = system.setup("--for", "test");
    assert.ok(changes.every((call) => !call.includes("openssh-server")));
  });

  it("updates its package lists first if they lack the packages", (t) => {
    const system = new FakeSystem(t);
    const updated = path.join(system.folder, "updated");
    system.program(
      "apt-cache",
      `[ -e ${updated} ] && printf '  Candidate: 1.0\\n' || printf '  Candidate: (none)\\n'`,
    );
    system.program("apt-get", `case "$*" in *update*) : >${updated} ;; esac`);
    const { status, changes } = system.setup();
    assert.equal(status, 0);
    assert.match(
      changes.find((call) => call.startsWith("apt-get")),
      /update/,
    );
    assert.equal(changes.filter((call) => /^apt-get.*update/.test(call)).length, 1);
  });

  it("makes an environment for uv where there is none, with the package that Debian needs for it", (t) => {
    const system = new FakeSystem(t);
    system.without("uv");
    system.python("3.11.2", { venv: false });
    const { out } = system.setup("--check");
    assert.match(out, /python3\.11-venv/);
    assert.match(out, /uv 0\.13\.8 in \.cache\/uv-env/);
  });

  it("uses sudo if that asks for no password", (t) => {
    const system = new FakeSystem(t);
    system.program("id", "echo 1000");
    system.program("sudo", 'shift; exec "$@"');
    const { status, calls } = system.setup();
    assert.equal(status, 0);
    assert.ok(
      calls.some((call) => /^sudo -n env DEBIAN_FRONTEND=noninteractive apt-get .* install /.test(call)),
    );
  });
});

describe("services of the packages", () => {
  it("may not start while packages are installed, and only then", (t) => {
    const system = new FakeSystem(t);
    assert.equal(system.setup().status, 0);
    assert.match(readFileSync(path.join(system.folder, "policy"), "utf8"), /denied/);
    assert.equal(existsSync(path.join(system.root, "usr/sbin/policy-rc.d")), false);
  });

  it("may start again if installing fails", (t) => {
    const system = new FakeSystem(t);
    system.program("apt-get", 'case "$*" in *install*) echo "E: no space"; exit 100 ;; esac');
    const { status, error } = system.setup();
    assert.equal(status, 1);
    assert.match(error, /E: no space/);
    assert.equal(existsSync(path.join(system.root, "usr/sbin/policy-rc.d")), false);
  });

  it("follow a policy that the administrator wrote", (t) => {
    const system = new FakeSystem(t);
    const policy = system.write("root/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 0\n");
    assert.equal(system.setup().status, 0);
    assert.equal(readFileSync(policy, "utf8"), "#!/bin/sh\nexit 0\n");
  });

  it("do not start at the next boot either", (t) => {
    const system = new FakeSystem(t);
    system.write("root/run/systemd/system/x", "");
    system.program("systemctl");
    const { calls } = system.setup();
    assert.ok(
      calls.some((call) => /^systemctl disable --now .*ceph-crash\.service/.test(call)),
      calls.join("\n"),
    );
  });
});

describe("a system that must stay as it is", () => {
  const cases = {
    "a Proxmox host": (system) => system.write("root/etc/pve/.version", ""),
    "a host with a ceph.conf": (system) => system.write("root/etc/ceph/ceph.conf", "[global]\n"),
    "a host that holds an OSD": (system) => system.write("root/var/lib/ceph/osd/ceph-3/whoami", "3"),
    "a host of cephadm": (system) =>
      system.write("root/var/lib/ceph/0b5e2a44-1111-2222-3333-444455556666/osd.1/whoami", "1"),
    "a host where a cluster's OSD runs": (system) =>
      system.process(77, "ceph-osd", ["ceph-osd", "-f", "--id", "3"]),
    "a host whose monitor names /etc/ceph": (system) =>
      system.process(77, "ceph-mon", ["ceph-mon", "-c", "/etc/ceph/prod.conf"]),
    "a host with a virtual machine": (system) => system.process(4242, "qemu-system-x86"),
    "a host of libvirt": (system) => system.process(4242, "libvirtd"),
    "a system where you are not root": (system) => system.program("id", "echo 1000"),
    "a system where sudo asks for a password": (system) => {
      system.program("id", "echo 1000");
      system.program("sudo", "exit 1");
    },
    "a system without apt": (system) => system.without("apt-get"),
  };
  for (const [name, make] of Object.entries(cases)) {
    it(`${name}: nothing is installed, two lines say why, and the deck can be presented`, (t) => {
      const system = new FakeSystem(t);
      make(system);
      const { status, lines, changes } = system.setup();
      assert.equal(status, 3);
      assert.deepEqual(changes, []);
      assert.equal(lines.length, 2, lines.join("\n"));
      assert.match(lines[0], /^Nothing is installed on this system: /);
      assert.match(lines[1], /present the shipped data here; to measure/);
    });
  }

  /** A system of an ordinary user whose kernel allows namespaces of his own, and scripts/sandbox with this body. */
  function ordinary(t, sandbox) {
    const system = new FakeSystem(t);
    for (const name of ["unshare", "dpkg-deb"]) system.program(name);
    system.program("id", "echo 1000");
    const file = system.write("checkout/scripts/sandbox", `#!/bin/sh\n${sandbox}\n`);
    chmodSync(file, 0o755);
    return system;
  }

  it("without root, Ceph's programs come into the checkout where user namespaces are allowed", (t) => {
    const record = ".cache/releases/18/release.json";
    const system = ordinary(
      t,
      `cd "\${0%/*}/.." && mkdir -p ${path.dirname(record)} && echo "$*" >${record}`,
    );
    const { status, out, changes } = system.setup();
    assert.equal(status, 0, out);
    assert.match(out, /Ceph 18, unpacked into \.cache\/releases .*you may not install packages/);
    assert.equal(readFileSync(path.join(system.checkout, record), "utf8"), "releases --get 18\n");
    assert.ok(changes.every((call) => !call.includes("apt-get")));
    assert.deepEqual(system.setup().lines, [""], "the second time there is nothing to do");
  });

  it("without root, nothing is fetched where there is any release", (t) => {
    const system = ordinary(t, "exit 1");
    system.write("checkout/.cache/releases/20/release.json", "{}");
    const { status, out } = system.setup();
    assert.equal(status, 0, out);
    assert.doesNotMatch(out, /Ceph/);
  });

  it("without root, the deck is presented where Python can make no environment", (t) => {
    const system = ordinary(t, "exit 1");
    system.without("uv");
    system.python("3.11.2", { venv: false });
    const { status, lines, changes } = system.setup();
    assert.equal(status, 3);
    assert.deepEqual(changes, []);
    assert.equal(lines.length, 2, lines.join("\n"));
    assert.match(lines[1], /to measure, install uv, or ask an administrator to install python3\.11-venv/);
    assert.equal(system.setup("--for", "derive").status, 1);
  });

  it("without root, the deck is presented where Ceph's programs cannot be had", (t) => {
    const { status, out, error } = ordinary(t, "echo no archive of Debian; exit 1").setup();
    assert.equal(status, 3);
    assert.match(error, /no archive of Debian/);
    assert.match(out, /programs of Ceph could not be had/);
  });

  it("a system whose sources lack the packages names them", (t) => {
    const system = new FakeSystem(t);
    system.program("apt-cache", "printf '  Candidate: (none)\\n'");
    const { status, out, changes } = system.setup();
    assert.equal(status, 3);
    assert.match(out, /its package sources have no .*ceph-osd/);
    assert.ok(!changes.some((call) => call.includes("install")));
  });

  it("names the process that makes it such a system", (t) => {
    const system = new FakeSystem(t);
    system.process(4242, "qemu-system-x86");
    assert.match(system.setup().out, /process qemu-system-x86, pid 4242/);
  });

  it("still derives and measures on request, if the programs exist", (t) => {
    const system = new FakeSystem(t);
    system.installCeph();
    system.write("root/etc/ceph/ceph.conf", "[global]\n");
    assert.equal(system.setup("--for", "client").status, 0);
    assert.equal(system.setup("--for", "start").status, 3);
  });
});

describe("a system that only looks like such a system", () => {
  const cases = {
    "the guest agent of a virtual machine": (system) => system.process(5, "qemu-ga"),
    "a sandbox's own daemons": (system) =>
      system.process(6, "ceph-osd", [
        "ceph-osd",
        "--id",
        "0",
        "--conf",
        "/home/me/replay/.replay/left/ceph.conf",
      ]),
    "a sandbox's own daemons, named with =": (system) =>
      system.process(6, "rbd-mirror", ["rbd-mirror", "--conf=/tmp/sandbox/right/ceph.conf"]),
    "a daemon that has ended": (system) => system.process(6, "ceph-osd", []),
    "empty folders that Ceph's packages leave": (system) => system.write("root/etc/ceph/rbdmap", "# none\n"),
  };
  for (const [name, make] of Object.entries(cases)) {
    it(`${name}: is set up like any other`, (t) => {
      const system = new FakeSystem(t);
      make(system);
      const { status, out } = system.setup("--check");
      assert.equal(status, 0, out);
      assert.match(out, /packages of this system/);
    });
  }
});

describe("a second run", () => {
  it("does nothing and says nothing", (t) => {
    const system = new FakeSystem(t);
    system.installCeph();
    assert.equal(system.setup().status, 0);
    const { status, out, changes } = system.setup();
    assert.equal(status, 0);
    assert.equal(out, "");
    assert.deepEqual(changes, []);
  });

  it("follows a changed lock file", (t) => {
    const system = new FakeSystem(t);
    system.installCeph();
    system.setup();
    writeFileSync(path.join(system.checkout, "uv.lock"), "changed");
    const { changes } = system.setup();
    assert.equal(changes.length, 1);
    assert.match(changes[0], /^uv sync --locked/);
  });

  it("makes the environment anew in a checkout that was moved", (t) => {
    const system = new FakeSystem(t);
    system.installCeph();
    system.setup();
    const moved = path.join(system.folder, "My Talks");
    renameSync(system.checkout, moved);
    system.checkout = moved;
    const { changes } = system.setup();
    assert.equal(changes.length, 1);
    assert.match(changes[0], /^uv sync --locked/);
    assert.deepEqual(system.setup().changes, []);
  });

  it("repairs an environment that lost its Python", (t) => {
    const system = new FakeSystem(t);
    system.installCeph();
    system.setup();
    rmSync(path.join(system.checkout, ".venv/bin/python"));
    const { status, changes } = system.setup();
    assert.equal(status, 0);
    assert.equal(changes.length, 1);
    assert.match(changes[0], /^uv sync --locked/);
  });

  it("tries again what failed", (t) => {
    const system = new FakeSystem(t);
    system.installCeph();
    const works = readFileSync(path.join(system.bin, "uv"), "utf8").split("\n").slice(2).join("\n");
    system.program("uv", 'case $1 in --version) echo "uv 0.13.9";; *) echo "no network"; exit 1;; esac');
    const first = system.setup();
    assert.equal(first.status, 1);
    assert.match(first.error, /no network/);
    assert.match(first.error, /next: see that this machine is online/);
    assert.match(first.error, /after an edit of pyproject\.toml, first: \S+uv lock\n/);
    system.program("uv", works);
    const second = system.setup();
    assert.equal(second.status, 0);
    assert.ok(second.changes.some((call) => call.startsWith("uv sync --locked")));
  });
});

describe("a Python that is too old", () => {
  it("is named, with how to get a newer one, and the deck can still be presented", (t) => {
    const system = new FakeSystem(t);
    system.installCeph();
    system.python("3.9.2");
    const { status, out } = system.setup();
    assert.equal(status, 3);
    assert.match(out, /Python 3\.9\.2 \(.*python3\) is too old: Replay needs 3\.11 or later/);
    assert.match(out, /python\.org/);
  });

  it("ends a set-up that needs it", (t) => {
    const system = new FakeSystem(t);
    system.python("3.9.2");
    for (const level of ["derive", "client", "sandbox"]) {
      const { status, error, changes } = system.setup("--for", level);
      assert.equal(status, 1);
      assert.match(error, /Python 3\.9\.2/);
      assert.deepEqual(changes, []);
    }
  });

  it("or none at all is said, also where Ceph's programs are missing", (t) => {
    const system = new FakeSystem(t);
    system.without("python3");
    const { status, out, changes } = system.setup();
    assert.equal(status, 3);
    assert.match(out, /Python is missing: Replay needs 3\.11 or later/);
    assert.deepEqual(changes, []);
    assert.match(system.setup("--for", "client").error, /Python is missing/);
  });

  it("beside a newer one is passed over", (t) => {
    const system = new FakeSystem(t);
    system.python("3.9.2");
    system.program("python3.13", 'case "$*" in *%d.%d.%d*) echo 3.13.0 ;; esac');
    const { status, calls } = system.setup("--for", "derive");
    assert.equal(status, 0);
    assert.ok(calls.some((call) => /^uv sync .*python3\.13/.test(call)));
  });
});

it("the plugin for Slurm is installed where it was asked for, and stays when the environment is made anew", (t) => {
  const system = new FakeSystem(t);
  const synced = ({ calls }) => calls.filter((call) => call.startsWith("uv sync "));
  assert.doesNotMatch(synced(system.setup("--for", "derive"))[0], /--extra/);
  assert.match(synced(system.setup("--for", "slurm")).at(-1), /--extra slurm/);
  const before = synced(system.setup("--for", "slurm")).length;
  system.write("checkout/uv.lock", "another");
  const after = synced(system.setup("--for", "derive"));
  assert.equal(after.length, before + 1);
  assert.match(after.at(-1), /--extra slurm/);
});

it("a wrong option is named, with a hint on the right ones", (t) => {
  for (const [args, what] of [
    [["--for", "nothing"], "--for nothing: expected one of derive, client, slurm, sandbox, start, test"],
    [["--for"], "--for wants a value"],
    [["--chek=yes"], "there is no option --chek"],
    [["test"], "'test' is not understood: options begin with --"],
  ]) {
    const { status, error, changes } = new FakeSystem(t).setup(...args);
    assert.equal(status, 2);
    assert.equal(error.trim(), `scripts/setup: ${what}\n  next: see scripts/setup --help`);
    assert.deepEqual(changes, []);
  }
});
