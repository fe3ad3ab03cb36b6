/** Bundles come from strangers: a good one is read whole, a hostile one is refused with a sentence before it is used. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import fc from "fast-check";

import { BundleRefused, fetchWith } from "../../../deck/data/bundle.js";
import { LIMITS, readBundle } from "../../../deck/data/bundle-file.js";
import { DataOnShow } from "../../../deck/data/data-on-show.js";
import { requestedBundle, showBundle } from "../../../deck/page/bundle-taking.js";

const CHART = "imported-fio/aggregate/iops-randread.csv";
const TABLE = "I/O size,4096\nbefore,10\n";
const HERE = "https://talks.example/rpo/";

const digest = (text) => createHash("sha256").update(text).digest("hex");
const file = (text) => ({ sha256: digest(text), text });
const manifest = (more = {}) => JSON.stringify({ data_set: "mine", label: "Mine", experiments: {}, ...more });

/** A bundle with one claim. */
function claimed(more) {
  const conditions = { ratio: { estimate: 2, region: { low: 1, high: null } } };
  const claim = { sentence: "Slower.", verdict: "held", reason: "inside", chart: null, conditions, ...more };
  return document({ files: { "claims.json": file(JSON.stringify({ claims: { slower: claim } })) } });
}

function document({ files = {}, ...more } = {}) {
  const all = { "manifest.json": manifest(), [CHART]: TABLE };
  return {
    format: "replay-bundle",
    version: 1,
    data_set: "mine",
    claims: { faster: "0a1b2c3d4e5f" },
    files: { ...Object.fromEntries(Object.entries(all).map(([path, text]) => [path, file(text)])), ...files },
    ...more,
  };
}

const packed = (value) =>
  gzipSync(typeof value === "string" || Buffer.isBuffer(value) ? value : JSON.stringify(value));
const streamOf = (bytes) => new Blob([bytes]).stream();
const read = (value, options) => readBundle(streamOf(packed(value)), options);

async function refused(promise, sentence) {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof BundleRefused, String(error.stack));
    assert.match(error.message, sentence);
    assert.match(error.message, /^[A-Z].*\.$/s, "a sentence");
    return true;
  });
}

test("a bundle is read under a name of its own, with its tables and claims", async () => {
  const bundle = await read(document());
  assert.equal(bundle.name, "mine.bundle");
  assert.equal(bundle.label, "Mine");
  assert.equal(bundle.files.get(CHART), TABLE);
  assert.equal(JSON.parse(bundle.files.get("manifest.json")).data_set, "mine.bundle");
  const answer = "name,label,mode,recovery_point_n,recovery_point_source\na,A,none,3,site-loss: lost\n";
  const { files } = await read(document({ files: { "answer.csv": file(answer) } }));
  assert.equal(files.get("answer.csv"), answer);
  const { claims, data_set: name } = JSON.parse((await read(claimed())).files.get("claims.json"));
  assert.deepEqual([Object.keys(claims), name], [["slower"], "mine.bundle"]);
});

const HOSTILE = {
  "a digest that does not match": [
    document({ files: { [CHART]: { ...file(TABLE), text: TABLE.replace("10", "99") } } }),
    /was altered or damaged: “imported-fio\/aggregate\/iops-randread\.csv”/,
  ],
  "no digest": [document({ files: { [CHART]: { text: TABLE } } }), /states no digest/],
  "a path out of its folder": [
    document({ files: { "../index.html": file("x") } }),
    /holds “\.\.\/index\.html”/,
  ],
  "a path that climbs in the middle": [
    document({ files: { "a/aggregate/..%2f..csv": file("x") } }),
    /is neither a table/,
  ],
  "an absolute path": [document({ files: { "/etc/passwd": file("x") } }), /is neither a table/],
  "a script": [document({ files: { "a/aggregate/x.js": file("alert(1)") } }), /is neither a table/],
  "a page": [document({ files: { "slides/talk.html": file("<script>") } }), /is neither a table/],
  "a name that is a path": [document({ data_set: "../reference" }), /does not name its data set/],
  "another format": [document({ format: "zip" }), /is no bundle of Replay/],
  "a later version": [document({ version: 2 }), /format “2”, and this talk reads 1/],
  "no manifest": [document({ files: { "manifest.json": undefined } }), /has no manifest\.json/],
  "a manifest that is no object": [
    document({ files: { "manifest.json": file("[]") } }),
    /manifest\.json cannot be read/,
  ],
  "a manifest without experiments": [
    document({ files: { "manifest.json": file("{}") } }),
    /names no experiments/,
  ],
  "a manifest nested too deeply": [
    document({
      files: { "manifest.json": file(`{"experiments":{},"x":${"[".repeat(900)}${"]".repeat(900)}}`) },
    }),
    /nested more deeply/,
  ],
  "a document with a list longer than a call has arguments, nested too deeply": [
    document({
      files: {
        "manifest.json": file(`{"x":[${"0,".repeat(300_000)}${"[".repeat(900)}${"]".repeat(900)}]}`),
      },
    }),
    /nested more deeply/,
  ],
  "an experiment of which nothing is said": [
    document({ files: { "manifest.json": file(manifest({ experiments: { x: null } })) } }),
    /manifest\.json says nothing of the experiment “x”/,
  ],
  "an answer that counts trials of nobody": [
    document({ files: { "answer.csv": file("name,label,mode,recovery_point_n\na,A,none,3\n") } }),
    /answer\.csv is none, or does not name the source/,
  ],
  "an answer that is none": [document({ files: { "answer.csv": file(TABLE) } }), /answer\.csv is none/],
  "a claim without a verdict": [claimed({ verdict: undefined }), /does not state .* of “slower”/],
  "a claim whose chart is none": [claimed({ chart: 4 }), /claims\.json does not state/],
  "a condition without a region": [claimed({ conditions: { ratio: {} } }), /and region of “slower”/],
  "no JSON": ["<html><script>alert(1)</script>", /cannot be read as JSON/],
  "no text": [Buffer.from([0xff, 0xfe, 0x00]), /cannot be read as JSON/],
  "brackets without an end": ["[".repeat(5_000_000), /cannot be read as JSON/],
};
for (const [what, [value, sentence]] of Object.entries(HOSTILE))
  test(`${what} is refused`, () => refused(read(value), sentence));

test("a small file that unpacks to a huge one is refused before it is unpacked", async () => {
  const bomb = gzipSync(Buffer.alloc(8 * 2 ** 20));
  assert.ok(bomb.length < 10_000);
  await refused(
    readBundle(streamOf(bomb), { limits: { ...LIMITS, bytes: 2 ** 20 } }),
    /unpacks to more than 1 MiB.*it was not read on/,
  );
});

test("a file without an end is not read to its end", async () => {
  let given = 0;
  const endless = new ReadableStream({
    pull(controller) {
      given += 2 ** 20;
      controller.enqueue(
        given === 2 ** 20 ? gzipSync(randomBytes(2 ** 20)).subarray(0, 2 ** 20) : randomBytes(2 ** 20),
      );
    },
  });
  await assert.rejects(readBundle(endless), BundleRefused);
  assert.ok(given <= LIMITS.packedBytes + 4 * 2 ** 20, `${given} bytes were read`);
});

test("what is no gzip, and half a bundle, are refused", async () => {
  await refused(readBundle(streamOf(Buffer.from("PK\u0003\u0004"))), /cannot be unpacked/);
  const whole = packed(document());
  await refused(readBundle(streamOf(whole.subarray(0, whole.length / 2))), /cannot be unpacked/);
});

test("too many files are refused", async () => {
  const files = Object.fromEntries([..."abcdef"].map((name) => [`${name}/aggregate/x.csv`, file("")]));
  await refused(read(document({ files }), { limits: { ...LIMITS, files: 5 } }), /more than 5 files/);
});

test("a page that cannot compute digests says that it needs https", () =>
  refused(read(document(), { subtle: null }), /not opened over https/));

test("whatever bytes arrive, a bundle is read or refused", () =>
  fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => packed(text)),
      ),
      async (bytes) => {
        await assert.rejects(readBundle(streamOf(bytes)), BundleRefused);
      },
    ),
    { numRuns: 100 },
  ));

test("keys of a prototype in a bundle change no object", async () => {
  const hostile = manifest().replace("{", '{"__proto__":{"polluted":true},');
  await read(document({ files: { "manifest.json": file(hostile) } }));
  assert.equal({}.polluted, undefined);
});

test("the bundle answers for its own files, and the server for all others", async () => {
  const bundle = await read(document());
  const asked = [];
  const server = (address) => {
    asked.push(address);
    return Promise.resolve(
      new Response(address.endsWith("index.json") ? '{"files":{"reference":[]}}' : "theirs"),
    );
  };
  const fetchFile = fetchWith(bundle, server, HERE);
  assert.equal(await (await fetchFile(`benchmarks/mine.bundle/${CHART}`)).text(), TABLE);
  assert.equal((await fetchFile("benchmarks/mine.bundle/recording.json")).status, 404);
  assert.deepEqual(asked, [], "nothing of the bundle is asked for");
  assert.equal(await (await fetchFile("benchmarks/reference/manifest.json")).text(), "theirs");
  const { files } = await (await fetchFile("benchmarks/index.json")).json();
  assert.deepEqual(Object.keys(files), ["reference", "mine.bundle"]);
});

test("a deck that takes a bundle shows it in place of its own data, and a frozen one refuses", async () => {
  const bundle = await read(document());
  const fetchFile = () => Promise.resolve(new Response("", { status: 404 }));
  const data = new DataOnShow({ search: "?data=other", usual: "reference", fetchFile });
  const listening = [];
  const page = (frozen) => ({
    baseURI: HERE,
    querySelector: () => frozen,
    addEventListener: (type) => listening.push(type),
  });
  showBundle(bundle, data, page(null));
  showBundle(bundle, data, page(null));
  assert.deepEqual(listening, ["click"], "its tables are saved once, however many bundles are shown");
  await data.load();
  assert.deepEqual([data.dataSet, data.shipped, data.problem], ["mine.bundle", false, null]);
  assert.equal(data.about().manifest.label, "Mine");
  assert.equal(data.resolve(`benchmarks/reference/${CHART}`), `benchmarks/mine.bundle/${CHART}`);
  assert.throws(() => showBundle(bundle, data, page({ content: "reference" })), BundleRefused);
});

test("?bundle= reads a file of this site only", async () => {
  const fetchFile = (address) =>
    Promise.resolve(
      address === `${HERE}mine.bundle` ? new Response(packed(document())) : new Response("", { status: 404 }),
    );
  assert.equal(await requestedBundle("?cut=20", HERE, fetchFile), null);
  assert.equal((await requestedBundle("?bundle=mine.bundle", HERE, fetchFile)).name, "mine.bundle");
  await refused(requestedBundle("?bundle=https://evil.example/x", HERE, fetchFile), /of another site/);
  await refused(requestedBundle("?bundle=//evil.example/x", HERE, fetchFile), /of another site/);
  await refused(
    requestedBundle("?bundle=data:application/gzip;base64,AA", HERE, fetchFile),
    /of another site/,
  );
  await refused(requestedBundle("?bundle=none", HERE, fetchFile), /no bundle at the address/);
  const failing = () => Promise.reject(new TypeError("offline"));
  await refused(requestedBundle("?bundle=mine.bundle", HERE, failing), /could not be fetched/);
});
