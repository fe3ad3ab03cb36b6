import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { alteredSentence, behindChart, ofDataSet } from "../../../deck/data/alterations.js";
import { provenance } from "../../../deck/data/provenance.js";
import {
  AlteredData,
  MISSING,
  NOT_DERIVED,
  NOT_LISTED,
  NOT_MEASURED,
  UNLISTED,
  UNREADABLE,
  findAlterations,
  requireUnaltered,
} from "../../../scripts/deck/verified/alterations.js";
import { Digests } from "../../../scripts/deck/verified/digests.js";
import { watchStanding } from "../../../scripts/deck/verified/standing.js";
import { patient } from "../../../scripts/npm/patience.mjs";

const CSV = "exp/aggregate/iops-read-seq.csv";
const PACK = "block-01-0123456789ab.tar.gz";
const FILES = { [CSV]: "I/O size,4096\nA,1\n", "exp/tidy.csv": "block\n1\n", "manifest.json": "{}" };
const sha256 = (text) => createHash("sha256").update(text).digest("hex");
let root;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "replay-alterations-"));
  for (const [file, text] of Object.entries(FILES)) await save(file, text);
  await save(`exp/raw/${PACK}`, "evidence");
  await save("exp/raw/SHA256SUMS", `${sha256("evidence")}  ${PACK}\n`);
  await describe();
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function save(name, text) {
  const file = path.join(root, "mine", name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}
const describe = (files = FILES) =>
  save(
    "datapackage.json",
    JSON.stringify({
      resources: Object.entries(files).map(([file, text]) => ({
        path: file,
        hash: `sha256:${sha256(text)}`,
      })),
    }),
  );
/** What is altered, as `{file: what}`. */
async function altered() {
  const found = await findAlterations(root, ["mine"], new Digests(null));
  return Object.fromEntries((found.mine ?? []).map(({ file, what }) => [file, what]));
}

test("a data set as derive and measure left it has no alteration", async () => {
  assert.deepEqual(await altered(), {});
});

test("each altered, missing or added file is named, with what is wrong", async () => {
  await save(CSV, "I/O size,4096\nA,2\n");
  await unlink(path.join(root, "mine/exp/tidy.csv"));
  await save("exp/aggregate/added.csv", "x\n");
  await save(`exp/raw/${PACK}`, "evidence, edited");
  await save("exp/raw/extra.txt", "?");
  assert.deepEqual(await altered(), {
    [CSV]: NOT_DERIVED,
    "exp/aggregate/added.csv": NOT_LISTED,
    [`exp/raw/${PACK}`]: NOT_MEASURED,
    "exp/raw/extra.txt": UNLISTED,
    "exp/tidy.csv": MISSING,
  });
});

test("evidence without its list, a missing pack, and a list or package that cannot be read are named", async () => {
  await unlink(path.join(root, `mine/exp/raw/${PACK}`));
  assert.deepEqual(await altered(), { [`exp/raw/${PACK}`]: MISSING });
  await save("exp/raw/SHA256SUMS", "not a digest\n");
  assert.deepEqual(await altered(), { "exp/raw/SHA256SUMS": UNREADABLE });
  await save(`exp/raw/${PACK}`, "evidence");
  await unlink(path.join(root, "mine/exp/raw/SHA256SUMS"));
  assert.deepEqual(await altered(), { "exp/raw/SHA256SUMS": MISSING });
  await save("exp/raw/SHA256SUMS", `${sha256("evidence")}  ${PACK}\n`);
  await save("datapackage.json", '{"resources": [{}]}');
  assert.equal((await altered())["datapackage.json"], UNREADABLE);
});

test("a block that is being measured or sealed is no alteration", async () => {
  await save("exp/raw/block-02.open/block-02/a/stdout", "so far");
  await save("exp/raw/block-02-aaaaaaaaaaaa.tar.gz", "sealed, to be listed next");
  await save("exp/raw/.design-01.json.partial", "");
  assert.deepEqual(await altered(), {});
  await rm(path.join(root, "mine/exp/raw/block-02.open"), { recursive: true });
  assert.deepEqual(await altered(), { "exp/raw/block-02-aaaaaaaaaaaa.tar.gz": UNLISTED });
});

test("what derive has just written counts as soon as its note says so, and not with an older note", async () => {
  const text = "I/O size,4096\nA,2\n";
  await save(CSV, text);
  const note = await save(
    "exp/derived.json",
    JSON.stringify({ outputs: { "aggregate/iops-read-seq.csv": sha256(text) } }),
  );
  const tomorrow = Date.now() / 1000 + 86400;
  await utimes(note, tomorrow, tomorrow);
  assert.deepEqual(await altered(), {});
  await save(CSV, "I/O size,4096\nA,3\n");
  assert.deepEqual(await altered(), { [CSV]: NOT_DERIVED });
  await save(CSV, text);
  await utimes(note, 1, 1);
  assert.deepEqual(await altered(), { [CSV]: NOT_DERIVED });
});

test("evidence whose tables nobody described is not vouched for; files of another origin are left alone", async () => {
  await unlink(path.join(root, "mine/datapackage.json"));
  assert.deepEqual(Object.values(await altered()), [NOT_LISTED, NOT_LISTED, NOT_LISTED]);
  await rm(path.join(root, "mine/exp/raw"), { recursive: true });
  assert.deepEqual(await altered(), {});
});

test("a copy whose evidence was edited on purpose is an altered one", async () => {
  await save("altered.json", "{}");
  assert.deepEqual(Object.keys(await altered()), ["altered.json"]);
});

test("altered data are published only if that is allowed, and the refusal names the files and the way back", async () => {
  await save(CSV, "edited\n");
  await assert.rejects(requireUnaltered(root, ["mine"], { allowed: false }), (error) => {
    assert.ok(error instanceof AlteredData);
    assert.match(error.message, /mine\/exp\/aggregate\/iops-read-seq\.csv is not what derive wrote/);
    assert.match(error.message, /npm run derive -- --data mine/);
    assert.match(error.message, /--altered/);
    return true;
  });
  assert.equal((await requireUnaltered(root, ["mine"], { allowed: true })).mine.length, 1);
});

test("digests are kept from look to look, and a file that changed is read again", async () => {
  const kept = path.join(root, "digests.json");
  const file = await save(CSV, "one\n");
  await sleep(2100);
  const first = new Digests(kept);
  assert.equal(await first.of(file), sha256("one\n"));
  await first.save();
  // Only what is kept can know this digest: the entry is edited, the file is not.
  const text = await readFile(kept, "utf8");
  await writeFile(kept, text.replace(sha256("one\n"), "f".repeat(64)));
  assert.equal(await new Digests(kept).of(file), "f".repeat(64));
  await writeFile(`${file}.new`, "two\n");
  await rename(`${file}.new`, file);
  assert.equal(await new Digests(kept).of(file), sha256("two\n"));
  await writeFile(kept, "{");
  assert.equal(await new Digests(kept).of(file), sha256("two\n"));
  assert.equal(await new Digests(kept).of(path.join(root, "nothing")), null);
});

test("an open talk hears of an altered file, and of one that was restored", async () => {
  const heard = [];
  const standing = watchStanding({ benchmarks: root, quietMs: 10, onChange: (found) => heard.push(found) });
  const told = async (count) => {
    for (const end = Date.now() + patient(10_000); heard.length < count && Date.now() < end;) await sleep(10);
    assert.equal(heard.length, count);
  };
  try {
    assert.deepEqual(await standing.current(), {});
    await save(CSV, "edited\n");
    standing.changed();
    await told(1);
    assert.equal(heard[0].mine[0].file, CSV);
    await save(CSV, FILES[CSV]);
    standing.changed();
    await told(2);
    assert.deepEqual(await standing.current(), {});
  } finally {
    standing.close();
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
    `exp/raw/${PACK}`,
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
