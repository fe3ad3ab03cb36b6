import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";

import { PUBLISHED } from "../../../scripts/deck/constants.js";
import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { replaceFolder, whyNoSiteIn } from "../../../scripts/deck/out-dir.js";
import { temporaryFolder } from "../../support/folders.mjs";

const MODULE = pathToFileURL(path.join(PROJECT, "scripts/deck/out-dir.js")).href;
const folder = temporaryFolder({ after });
let place;

beforeEach(async () => {
  place = path.join(await mkdtemp(path.join(folder, "place-")), "dist");
});

const write = (text) => (made) => writeFile(path.join(made, "index.html"), text);
const read = (where = place) => readFile(path.join(where, "index.html"), "utf8");
const beside = () => readdir(path.dirname(place));

test("a folder is moved to its place when it is complete, and replaces what was there", async () => {
  await replaceFolder(place, write("one"));
  await writeFile(path.join(place, "old.js"), "old");
  const made = await replaceFolder(place, async (work) => {
    assert.equal(path.dirname(work), path.dirname(place));
    await write("two")(work);
    assert.equal(await read(), "one", "it is there until the other one is whole");
    return "made";
  });
  assert.equal(made, "made");
  assert.equal(await read(), "two");
  assert.deepEqual(await readdir(place), ["index.html"]);
  assert.deepEqual(await beside(), ["dist"]);
});

test("missing parent folders are made", async () => {
  const deep = path.join(place, "a/b");
  await replaceFolder(deep, write("deep"));
  assert.equal(await read(deep), "deep");
});

test("nothing changes when it cannot be made", async () => {
  await replaceFolder(place, write("one"));
  const failing = async (work) => {
    await write("half")(work);
    throw new Error("no more");
  };
  await assert.rejects(replaceFolder(place, failing), /no more/);
  assert.equal(await read(), "one");
  assert.deepEqual(await beside(), ["dist"]);
});

test("the target of a link is replaced, and the link stays", async () => {
  const real = path.join(path.dirname(place), "real");
  await mkdir(real);
  await symlink(real, place);
  await replaceFolder(place, write("linked"));
  assert.equal(await read(real), "linked");
  assert.equal(await read(), "linked");
  assert.deepEqual((await beside()).sort(), ["dist", "real"]);
});

/** A program that begins to make the folder, says so, and runs forever unless told otherwise. */
function begin(rest = "await new Promise((resolve) => setTimeout(resolve, 600_000));", word = "begun") {
  const program = spawn(process.execPath, [
    ...["--input-type=module", "-e"],
    `import { existsSync, writeFileSync } from "node:fs";
     import { replaceFolder } from ${JSON.stringify(MODULE)};
     process.on("SIGINT", () => process.exit(130));
     await replaceFolder(${JSON.stringify(place)}, async (work) => {
       writeFileSync(work + "/index.html", "half");
       console.log("begun");
       ${rest}
     });`,
  ]);
  const ended = new Promise((resolve) => program.on("exit", resolve));
  return new Promise((resolve) => {
    let said = "";
    program.stdout.on("data", (part) => {
      said += part;
      if (said.includes(word)) resolve({ program, ended });
    });
  });
}

test("a program that is ended leaves nothing of what it made", async () => {
  await replaceFolder(place, write("one"));
  const { program, ended } = await begin();
  assert.equal((await beside()).length, 2);
  program.kill("SIGINT");
  assert.equal(await ended, 130);
  assert.deepEqual(await beside(), ["dist"]);
  assert.equal(await read(), "one");
});

test("a program that is ended leaves nothing of what its threads had begun to write", async () => {
  // Like a bundler's: this one keeps writing for 50 ms after the program was asked to end.
  const thread = `
    const { workerData: { folder, end } } = require("node:worker_threads");
    const { mkdirSync, writeFileSync } = require("node:fs");
    while (end[0] === 0n || Date.now() < end[0]) {
      try {
        mkdirSync(folder + "/assets", { recursive: true });
        writeFileSync(folder + "/assets/late.js", "late");
      } catch {}
    }`;
  const { program, ended } = await begin(
    `const { Worker } = await import("node:worker_threads");
     const end = new BigInt64Array(new SharedArrayBuffer(8));
     process.prependListener("SIGINT", () => (end[0] = BigInt(Date.now() + 50)));
     const thread = new Worker(${JSON.stringify(thread)}, { eval: true, execArgv: [], workerData: { folder: work, end } });
     const late = work + "/assets/late.js";
     while (!existsSync(late)) await new Promise((resolve) => setTimeout(resolve, 5));
     console.log("written");
     await new Promise((resolve) => setTimeout(resolve, 600_000));`,
    "written",
  );
  program.kill("SIGINT");
  assert.equal(await ended, 130);
  assert.deepEqual(await beside(), []);
});

test("remains of a killed program are removed by the next, but not what another one is making", async () => {
  const [killed, running] = await Promise.all([begin(), begin()]);
  killed.program.kill("SIGKILL");
  await killed.ended;
  assert.equal((await beside()).length, 2);
  await replaceFolder(place, write("next"));
  assert.deepEqual((await beside()).sort(), [`.dist-building-${running.program.pid}`, "dist"]);
  running.program.kill("SIGINT");
  await running.ended;
  assert.deepEqual(await beside(), ["dist"]);
});

test("a folder that cannot be renamed gets new content", async (t) => {
  // Only root may mount; for others a parent that they may not write to has the same effect.
  const parent = path.dirname(place);
  await replaceFolder(place, write("one"));
  await writeFile(path.join(place, "old.js"), "old");
  if (process.getuid() === 0) {
    const mounted = spawnSync("mount", ["--bind", place, place]);
    if (mounted.status !== 0) return t.skip("nothing can be mounted here");
    t.after(() => spawnSync("umount", [place]));
  } else {
    spawnSync("chmod", ["555", parent]);
    t.after(() => spawnSync("chmod", ["755", parent]));
  }
  await replaceFolder(place, write("two"));
  assert.equal(await read(), "two");
  assert.deepEqual(await readdir(place), ["index.html"]);
});

test("a folder with other things than a site is not replaced by a site", async () => {
  assert.equal(await whyNoSiteIn(place, "dist"), null);
  await mkdir(place);
  assert.equal(await whyNoSiteIn(place, "dist"), null);
  await writeFile(path.join(place, "thesis.txt"), "");
  assert.match(await whyNoSiteIn(place, "dist"), /^dist holds other files/);
  assert.match(await whyNoSiteIn(PROJECT, "."), /holds other files/);
  const file = path.join(place, "thesis.txt");
  assert.equal(await whyNoSiteIn(file, "thesis.txt"), "thesis.txt is a file; name a folder with --out.");
  assert.ok(existsSync(path.join(place, "thesis.txt")));
  await write("<title>My site</title>")(place);
  assert.match(await whyNoSiteIn(place, "dist"), /^dist holds other files/, "a site of something else");
  await write(`<meta name="${PUBLISHED}" content="true">`)(place);
  assert.equal(await whyNoSiteIn(place, "dist"), null);
});
