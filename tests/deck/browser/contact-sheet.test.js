/** The contact sheet: photographs of slides in both themes, laid out on sheets. */
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { temporaryFolder } from "../../support/folders.mjs";
import { assertEnds, runNode } from "../../support/programs.mjs";
import { FIXTURE } from "../support/fixture.js";

const contactSheet = (...args) =>
  runNode("scripts/deck/contact-sheet.mjs", args, { REPLAY_BENCHMARKS: FIXTURE });

/** Width and height of a PNG. */
async function sizeOf(file) {
  const bytes = await readFile(file);
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

test("both themes are photographed slide by slide, and laid out on as many sheets as needed", async (t) => {
  const out = temporaryFolder(t);
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
});

test("sheets may be JPEG, and may leave the appendix out", async (t) => {
  const out = temporaryFolder(t);
  await contactSheet("--out", out, "--data", "fixture", "--only", "fio", "--no-appendix");
  assert.deepEqual(await readdir(out), []);
  await contactSheet("--out", out, "--data", "fixture", "--only", "yours", "--no-appendix", "--type", "jpeg");
  assert.ok((await readdir(out)).includes("light-sheet-1.jpeg"));
  assert.equal((await readFile(path.join(out, "light-sheet-1.jpeg"))).readUInt16BE(0), 0xffd8);
});

test("a wrong option is answered with what is wrong about it", async () => {
  const refused = (args, pattern) => assertEnds(contactSheet(...args), 2, pattern);
  await refused([], /--out DIR is missing/);
  await refused(["--out", "x", "--theme", "blue"], /--theme blue: expected one of light, dark, both/);
  await refused(["--out", "x", "--columns", "0"], /--columns wants a whole number/);
  await refused(["--out", "x", "--type", "gif"], /--type gif: expected one of png, jpeg/);
  await refused(["--out", "x", "--cut", "40"], /--cut 40: expected one of 20, 30/);
});
