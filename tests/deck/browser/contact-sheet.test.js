/** The contact sheet: photographs of slides in both themes, laid out on sheets. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { FIXTURE } from "../support/fixture.js";

const run = promisify(execFile);
const contactSheet = (...args) =>
  run("node", ["scripts/deck/contact-sheet.mjs", ...args], {
    cwd: PROJECT,
    env: { ...process.env, REPLAY_BENCHMARKS: FIXTURE },
  });

/** Width and height of a PNG. */
async function sizeOf(file) {
  const bytes = await readFile(file);
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

test("both themes are photographed slide by slide, and laid out on as many sheets as needed", async () => {
  const out = await mkdtemp(path.join(tmpdir(), "replay-sheet-"));
  const grid = ["--columns", "2", "--rows", "1", "--width", "320"];
  await contactSheet("--out", out, "--data", "fixture", "--theme", "both", "--only", "claims-", ...grid);
  const files = (await readdir(out)).map((name) => name.replace(/-\d+-claims/, "-N-claims")).sort();
  const expected = ["light", "dark"].flatMap((theme) => [
    `${theme}-N-claims-latency.png`,
    `${theme}-N-claims-mirroring.png`,
    `${theme}-N-claims-tail.png`,
    `${theme}-sheet-1.png`,
    `${theme}-sheet-2.png`,
  ]);
  assert.deepEqual(files, expected.sort());
  const [photograph] = (await readdir(out)).filter((name) => name.includes("claims-latency"));
  assert.deepEqual(await sizeOf(path.join(out, photograph)), [1280, 720]);
  const [width, height] = await sizeOf(path.join(out, "light-sheet-1.png"));
  assert.equal(width, 2 * 320 + 3 * 16);
  assert.ok(height >= 180 && height < 400, `${height} px high`);
  await rm(out, { recursive: true });
});

test("sheets may be JPEG, and may leave the appendix out", async () => {
  const out = await mkdtemp(path.join(tmpdir(), "replay-sheet-"));
  await contactSheet("--out", out, "--data", "fixture", "--only", "fio", "--no-appendix");
  assert.deepEqual(await readdir(out), []);
  await contactSheet("--out", out, "--data", "fixture", "--only", "yours", "--no-appendix", "--type", "jpeg");
  assert.ok((await readdir(out)).includes("light-sheet-1.jpeg"));
  assert.equal((await readFile(path.join(out, "light-sheet-1.jpeg"))).readUInt16BE(0), 0xffd8);
  await rm(out, { recursive: true });
});

test("a wrong option is answered with what is wrong about it", async () => {
  const refused = (args, pattern) =>
    assert.rejects(contactSheet(...args), ({ code, stderr }) => code === 2 && pattern.test(stderr));
  await refused([], /--out DIR is missing/);
  await refused(["--out", "x", "--theme", "blue"], /--theme blue: expected one of light, dark, both/);
  await refused(["--out", "x", "--columns", "0"], /--columns wants a whole number/);
  await refused(["--out", "x", "--type", "gif"], /--type gif: expected one of png, jpeg/);
  await refused(["--out", "x", "--cut", "40"], /--cut 40: expected one of 20, 30/);
});
