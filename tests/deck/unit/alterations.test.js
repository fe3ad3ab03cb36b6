import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, rm, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { JSDOM } from "jsdom";

import { alteredSentence, behindChart, ofDataSet } from "../../../deck/data/alterations.js";
import { provenance } from "../../../deck/data/provenance.js";
import { writeAlteredMarks } from "../../../deck/text/altered-marks.js";
import {
  MISSING,
  NOT_DERIVED,
  NOT_LISTED,
  UNREADABLE,
  findAlterations,
  requireUnaltered,
  watchAlterations,
} from "../../../scripts/deck/alterations.js";
import { temporaryFolder } from "../../support/folders.mjs";
import { patient } from "../../support/patience.mjs";

const CSV = "exp/aggregate/iops-read-seq.csv";
const FILES = {
  [CSV]: "I/O size,4096\nA,1\n",
  "exp/tidy.csv": "block\n1\n",
  "manifest.json": "{}",
  "answer.csv": "claim\n",
};
const sha256 = (text) => createHash("sha256").update(text).digest("hex");
let root;

beforeEach(async (t) => {
  root = temporaryFolder(t);
  for (const [file, text] of Object.entries(FILES)) await save(file, text);
  await save("exp/raw/SHA256SUMS", "");
  const resources = Object.entries(FILES).map(([file, text]) => ({
    path: file,
    hash: `sha256:${sha256(text)}`,
  }));
  await save("datapackage.json", JSON.stringify({ resources }));
});

async function save(name, text) {
  const file = path.join(root, "mine", name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}
const remove = (name) => rm(path.join(root, "mine", name), { recursive: true });
/** What is altered, as `{file: what}`. */
async function altered(known) {
  const found = await findAlterations(root, ["mine"], known);
  return Object.fromEntries((found.mine ?? []).map(({ file, what }) => [file, what]));
}

test("a data set as derive left it has no alteration", async () => {
  assert.deepEqual(await altered(), {});
});

test("each altered, missing or added file is named, with what is wrong", async () => {
  await save(CSV, "I/O size,4096\nA,2\n");
  await remove("exp/tidy.csv");
  await remove("answer.csv");
  await save("exp/aggregate/added.csv", "x\n");
  assert.deepEqual(await altered(), {
    "answer.csv": MISSING,
    "exp/aggregate/added.csv": NOT_LISTED,
    [CSV]: NOT_DERIVED,
    "exp/tidy.csv": MISSING,
  });
});

test("tables that an experiment was derived to are no alteration before the data set is described again", async () => {
  const again = { "aggregate/iops-read-seq.csv": "I/O size,4096\nA,2\n", "aggregate/added.csv": "x\n" };
  for (const [file, text] of Object.entries(again)) await save(`exp/${file}`, text);
  await remove("exp/tidy.csv");
  const outputs = Object.fromEntries(Object.entries(again).map(([file, text]) => [file, sha256(text)]));
  await save("exp/experiment.json", JSON.stringify({ outputs }));
  assert.deepEqual(await altered(), {});
  await save("exp/aggregate/added.csv", "edited\n");
  await remove(CSV);
  assert.deepEqual(await altered(), { "exp/aggregate/added.csv": NOT_DERIVED, [CSV]: MISSING });
});

test("a list of digests that cannot be read is named, and so is one that is missing beside evidence", async () => {
  for (const text of ["{", '{"resources": [{}]}']) {
    await save("datapackage.json", text);
    assert.deepEqual(await altered(), { "datapackage.json": UNREADABLE });
  }
  await remove("datapackage.json");
  assert.deepEqual(await altered(), { "datapackage.json": MISSING });
});

test("of a list of digests, only files of its own data set are read", async () => {
  await save("../secret.txt", "secret");
  const outside = ["../secret.txt", "..", "exp", 5];
  const resources = outside.map((file) => ({ path: file, hash: `sha256:${sha256("secret")}` }));
  await save("datapackage.json", JSON.stringify({ resources }));
  const found = await altered();
  for (const file of outside) assert.equal(found[file], MISSING, `${file}`);
});

test("files of another origin, and evidence from which nothing is derived yet, are left alone", async () => {
  await remove("datapackage.json");
  await remove("manifest.json");
  assert.deepEqual(await altered(), {});
  await save("manifest.json", "{}");
  await remove("exp/raw");
  assert.deepEqual(await altered(), {});
});

test("altered data are published only if that is allowed, and the refusal names the files and the way back", async () => {
  await save(CSV, "edited\n");
  await assert.rejects(requireUnaltered(root, ["mine"], { allowed: false }), (error) => {
    assert.match(error.message, /mine\/exp\/aggregate\/iops-read-seq\.csv is not what derive wrote/);
    assert.match(error.message, /\.\/replay derive --data mine/);
    assert.match(error.message, /--altered/);
    return true;
  });
  assert.equal((await requireUnaltered(root, ["mine"], { allowed: true })).mine.length, 1);
});

test("a file that has not changed since an earlier look is not read again", async () => {
  const known = new Map();
  await altered(known);
  // Only what is known can say this: the digest is edited, the file is not.
  for (const [key] of known) if (key.includes(CSV)) known.set(key, "f".repeat(64));
  assert.deepEqual(await altered(known), { [CSV]: NOT_DERIVED });
  await save(CSV, `${FILES[CSV]}\n`);
  await save(CSV, FILES[CSV]);
  assert.deepEqual(await altered(known), {});
});

test("an open talk hears of an altered file, and of one that was restored", async () => {
  const heard = [];
  const alterations = watchAlterations({
    benchmarks: root,
    quietMs: 10,
    onChange: (found) => heard.push(found),
  });
  const told = async (count) => {
    for (const end = Date.now() + patient(10_000); heard.length < count && Date.now() < end;) await sleep(10);
    assert.equal(heard.length, count);
  };
  try {
    assert.deepEqual(await alterations.current(), {});
    await unlink(path.join(root, "mine/answer.csv"));
    alterations.changed();
    await told(1);
    assert.deepEqual(heard[0].mine, [{ file: "answer.csv", what: MISSING }]);
    await save("answer.csv", FILES["answer.csv"]);
    alterations.changed();
    await told(2);
    assert.deepEqual(await alterations.current(), {});
  } finally {
    alterations.close();
  }
});

// On the slide ---------------------------------------------------------------------------------------------------------

const at = (file) => ({ file, what: NOT_DERIVED });
const SRC = `benchmarks/mine/${CSV}`;

test("a chart depends on its own files, its experiment's tables and evidence, and the whole data set's", () => {
  const concerns = (file) => behindChart(SRC, [at(file)]).length === 1;
  for (const file of [
    CSV,
    "exp/aggregate/iops-read-seq.n.csv",
    "exp/aggregate/runs.csv",
    "exp/tidy.csv",
    "exp/raw/SHA256SUMS",
    "claims.json",
  ])
    assert.ok(concerns(file), file);
  for (const file of ["exp/aggregate/iops-read-seq-2.csv", "other/tidy.csv", "exp-2/tidy.csv"])
    assert.ok(!concerns(file), file);
  assert.deepEqual(ofDataSet([at(CSV), at("claims.json")]), [at("claims.json")]);
});

test("the mark names the first file and how many more there are; the label says it too", () => {
  assert.equal(alteredSentence([]), null);
  assert.equal(alteredSentence([at(CSV)]), `ALTERED DATA: ${CSV} is not what derive wrote.`);
  assert.match(alteredSentence([at(CSV), at(CSV), at("claims.json")]), /^ALTERED DATA \(and 1 more\): /);
  assert.match(provenance([SRC], null, [at(CSV)]), /^ALTERED DATA · mine/);
  assert.doesNotMatch(provenance([SRC], null, [at("other/tidy.csv")]), /ALTERED/);
});

test("a slide is marked if any file of its chart is altered, also one beside the first", () => {
  const file = (percentile) => `exp/aggregate/latency-${percentile}-write-rand.csv`;
  const { document } = new JSDOM(
    `<section><h2>Title</h2><canvas data-chart="line" data-chart-src="benchmarks/mine/${file("p50")}"
       data-chart-more="benchmarks/mine/${file("p99")}"></canvas></section>`,
  ).window;
  const alterationsOf = () => [{ file: file("p99"), what: NOT_DERIVED }];
  writeAlteredMarks(document.body, { resolve: (src) => src, alterationsOf }, { dataSet: "mine" });
  const mark = document.querySelector("section > p.altered-data");
  assert.equal(mark?.textContent, `ALTERED DATA: ${file("p99")} is not what derive wrote.`);
});
