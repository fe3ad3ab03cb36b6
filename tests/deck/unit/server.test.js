import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import { mkdir, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import http from "node:http";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureBundle } from "../../../scripts/deck/bundle.js";
import { addressOf } from "../../../scripts/deck/data-handler.js";
import { dataSetFolders, PROJECT } from "../../../scripts/deck/data-sets.js";
import { contentSecurityPolicy, speakerViewScripts } from "../../../scripts/deck/policy.js";
import { startPresentServer } from "../../../scripts/deck/server.js";
import { temporaryFolder } from "../../support/folders.mjs";
import { patient } from "../../support/patience.mjs";
import { assertEnds, runNode } from "../../support/programs.mjs";
import { watchSources } from "../../../scripts/deck/source-watch.js";

const benchmarks = temporaryFolder({ after });
let server;

before(async () => {
  const aggregate = path.join(benchmarks, "local", "rbd-journaling", "aggregate");
  await mkdir(aggregate, { recursive: true });
  await writeFile(path.join(aggregate, "a.csv"), "I/O size,4096\nA,1\n");
  await writeFile(path.join(benchmarks, "secret.txt"), "secret");
  await symlink("/etc/hostname", path.join(aggregate, "link.csv"));
  server = await startPresentServer({ port: 0, benchmarks });
});
after(() => server.close());

/** A request that sends its path as it is, dots and all. */
function request(target, { method = "GET", host } = {}) {
  return new Promise((resolve, reject) => {
    const headers = host ? { host } : {};
    const asked = http.request(
      { host: "127.0.0.1", port: server.port, path: target, method, headers },
      (response) => {
        let body = "";
        response.on("data", (part) => (body += part));
        response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
      },
    );
    asked.on("error", reject);
    asked.end();
  });
}

test("the deck, its slides and its data are served, data without any caching", async () => {
  const page = await request("/");
  assert.equal(page.status, 200);
  assert.match(page.body, /<meta name="replay:events" content="__replay\/events\?since=[^"]+">/);
  const csv = await request("/benchmarks/local/rbd-journaling/aggregate/a.csv");
  assert.equal(csv.body, "I/O size,4096\nA,1\n");
  assert.match(csv.headers["content-type"], /^text\/csv/);
  assert.equal(csv.headers["cache-control"], "no-store");
  assert.match((await request("/slides/rpo/00-loss.md")).body, /<!-- Note -->/);
});

test("a missing CSV file is 404 in plain text, never the page", async () => {
  for (const target of ["/benchmarks/local/rbd-journaling/aggregate/b.csv", "/slides/none.md", "/nothing"]) {
    const { status, headers } = await request(target);
    assert.equal(status, 404, target);
    assert.match(headers["content-type"], /^text\/plain/);
  }
});

test("no address leads out of the folders that are served", async () => {
  for (const target of [
    "/benchmarks/../package.json",
    "/benchmarks/..%2fsecret.txt",
    "/benchmarks/secret.txt",
    "/benchmarks/local/rbd-journaling/aggregate/link.csv",
    "/benchmarks/local/rbd-journaling/aggregate/%00.csv",
    "/../../etc/passwd",
    "/.git/config",
    "/package.json",
    "/slides/..%5c..%5cpackage.json",
  ]) {
    const { status } = await request(target);
    assert.ok(status === 404 || status === 400, `${target}: ${status}`);
  }
  assert.equal(addressOf("/%E0%A4%A"), null);
});

test("a data set that lies elsewhere is served, as it is listed", async (t) => {
  const elsewhere = temporaryFolder(t);
  await writeFile(path.join(elsewhere, "manifest.json"), "{}");
  await mkdir(path.join(elsewhere, "measured"));
  await writeFile(path.join(elsewhere, "measured", "registered.csv"), "cell,claim\n");
  const link = path.join(benchmarks, "linked");
  await symlink(elsewhere, link);
  t.after(() => rm(link));
  const { files } = JSON.parse((await request("/benchmarks/index.json")).body);
  assert.deepEqual(files.linked, ["manifest.json", "measured/registered.csv"]);
  assert.deepEqual(files.local, ["rbd-journaling/aggregate/a.csv"]);
  for (const name of files.linked)
    assert.equal((await request(`/benchmarks/linked/${name}`)).status, 200, name);
});

test("other hosts' names and other methods are refused", async () => {
  assert.equal((await request("/", { host: "evil.example" })).status, 403);
  assert.equal((await request("/", { method: "POST" })).status, 405);
  assert.equal((await request("/benchmarks/index.json", { method: "DELETE" })).status, 405);
});

test("the list of data sets follows the disk", async () => {
  assert.deepEqual(JSON.parse((await request("/benchmarks/index.json")).body).data_sets, ["local"]);
  await mkdir(path.join(benchmarks, "later"));
  await writeFile(path.join(benchmarks, "later", "manifest.json"), "{}");
  assert.deepEqual(JSON.parse((await request("/benchmarks/index.json")).body).data_sets, ["later", "local"]);
});

/**
 * The first event that a page is sent, or the first one `named` so, or null if none comes before `untilMs`. `onListening` is
 * called once the server knows the page.
 */
function firstEvent(address, { headers = {}, untilMs, named = ".+", onListening = () => {} }) {
  return new Promise((resolve, reject) => {
    const asked = http.get(
      { host: "127.0.0.1", port: server.port, path: address, headers, agent: false },
      (response) => {
        let said = "";
        const done = (found) => {
          asked.destroy();
          resolve(found);
        };
        const timer = setTimeout(done, untilMs, null);
        response.on("error", () => {});
        response.on("data", (part) => {
          if (said === "") onListening();
          said += part;
          const found = new RegExp(`^id: (.+)\nevent: (${named})\n`, "m").exec(said);
          if (!found) return;
          clearTimeout(timer);
          done({ id: found[1], event: found[2] });
        });
      },
    );
    asked.on("error", reject);
  });
}

test("a page is told what changed after it was served and before it listened, also when it comes back", async () => {
  const page = await request("/");
  const address = `/${/name="replay:events" content="([^"]+)"/.exec(page.body)[1]}`;
  let watching;
  // A change before the server knows the page would be a missed one.
  await new Promise((resolve) => {
    watching = firstEvent(address, { untilMs: patient(20_000), named: "data", onListening: resolve });
  });
  await writeFile(path.join(benchmarks, "local", "manifest.json"), "{}");
  assert.equal((await watching)?.event, "data");
  const late = await firstEvent(address, { untilMs: patient(20_000) });
  assert.equal(late.event, "missed");
  const back = { "last-event-id": late.id };
  const later = await firstEvent(address, { headers: back, untilMs: 500 });
  assert.ok(later === null || later.id !== late.id, "nothing is called missed that is known");
  const otherServer = { "last-event-id": "0-1" };
  assert.equal(
    (await firstEvent(address, { headers: otherServer, untilMs: patient(20_000) })).event,
    "missed",
  );
});

test("a busy port is skipped, and the program says so", async () => {
  const second = await startPresentServer({ port: server.port, benchmarks });
  try {
    assert.ok(second.port > server.port);
    assert.equal(second.portWasBusy, true);
    assert.equal(server.portWasBusy, false);
  } finally {
    await second.close();
  }
});

test("the address carries the data set", async () => {
  const other = await startPresentServer({ port: 0, data: "local", meanwhile: "reference", benchmarks });
  await other.close();
  assert.match(other.url, /^http:\/\/127\.0\.0\.1:\d+\/\?data=local&meanwhile=reference$/);
});

test("a second start without changes builds nothing, and keeps the bundle from being removed as an old one", async () => {
  const { folder: bundle } = await ensureBundle();
  const before = new Date(Date.now() - 3600_000);
  await utimes(bundle, before, before);
  assert.deepEqual(await ensureBundle(), { folder: bundle, built: false });
  assert.ok((await stat(bundle)).mtimeMs > before.getTime() + 1000);
});

test("the page's policy allows its own origin and the speaker view's one script, nothing inline", () => {
  assert.equal(speakerViewScripts().length, 1);
  const scripts = /script-src ([^;]+)/.exec(contentSecurityPolicy())[1];
  assert.match(scripts, /^'self' 'sha256-[A-Za-z0-9+/=]+'$/);
  assert.match(contentSecurityPolicy(), /^default-src 'none'/);
});

test("the program says where the talk is, and ends cleanly with Ctrl-C", async () => {
  const program = spawn("node", ["scripts/present.mjs", "--no-open", "--port", String(server.port)], {
    cwd: PROJECT,
    env: { ...process.env, REPLAY_BENCHMARKS: benchmarks },
  });
  let said = "";
  const ended = new Promise((resolve) => program.on("exit", (code) => resolve(code)));
  await new Promise((resolve) => {
    program.stdout.on("data", (part) => {
      said += part;
      if (said.includes("Ctrl-C")) resolve();
    });
    program.on("exit", resolve);
  });
  program.kill("SIGINT");
  assert.equal(await ended, 0);
  assert.match(said, /Port \d+ is busy; using \d+ instead\.\nThe talk is at http:\/\/127\.0\.0\.1:\d+\/\n/);
  for (const word of ["cut=20", "run", "explore"])
    assert.match(said, new RegExp(` http://127\\.0\\.0\\.1:\\d+/\\?${word}\n`), word);
});

test("the program refuses an unknown data set, and names the known ones", async () => {
  for (const option of ["--data", "--meanwhile"])
    await assertEnds(
      runNode("scripts/present.mjs", ["--no-open", option, "lokal"], { REPLAY_BENCHMARKS: benchmarks }),
      2,
      /^There is no data set “lokal”\. Available: .*local\.\n$/,
    );
});

test("a data set without anything to show can be presented while it is measured", async () => {
  const empty = path.join(benchmarks, "just-begun");
  await mkdir(empty);
  assert.ok((await dataSetFolders(benchmarks)).includes("just-begun"));
  await rm(empty, { recursive: true });
});

let folder;
let watch;
let changes;

beforeEach(async (t) => {
  folder = temporaryFolder(t);
  await mkdir(path.join(folder, "deck", "reader"), { recursive: true });
  await writeFile(path.join(folder, "index.html"), "");
  changes = 0;
  const places = ["deck", "index.html", "not-there"].map((name) => path.join(folder, name));
  watch = watchSources({ places, onChange: () => (changes += 1) });
});
afterEach(() => watch.close());

/** Waits until so many changes are reported. */
async function told(count = 1) {
  for (const end = Date.now() + patient(10_000); changes < count && Date.now() < end;) await sleep(10);
  return changes;
}

test("a file in a watched folder, or below it, is noticed", async () => {
  await writeFile(path.join(folder, "deck", "reader", "a.js"), "a");
  assert.equal(await told(), 1);
});

test("a watched file that an editor replaces is noticed, its neighbours are not", async () => {
  await writeFile(path.join(folder, "other.html"), "a");
  await sleep(300);
  assert.equal(changes, 0);
  await writeFile(path.join(folder, "index.html.new"), "a");
  await rename(path.join(folder, "index.html.new"), path.join(folder, "index.html"));
  assert.equal(await told(), 1);
});

test("a file in a folder that is new is noticed", async () => {
  await mkdir(path.join(folder, "deck", "look"));
  assert.equal(await told(), 1);
  await writeFile(path.join(folder, "deck", "look", "tokens.css"), "a");
  assert.equal(await told(2), 2);
});

test("a folder whose place another one takes is watched", async () => {
  const deck = path.join(folder, "deck");
  await mkdir(path.join(folder, "new"));
  // At once, so that nobody sees the place without a folder.
  fs.renameSync(deck, path.join(folder, "old"));
  fs.renameSync(path.join(folder, "new"), deck);
  assert.equal(await told(), 1);
  await writeFile(path.join(deck, "a.js"), "a");
  assert.equal(await told(2), 2);
});

test("a shortage of watches is told once, and ends nothing", (t) => {
  watch.close();
  t.mock.method(fs, "watch", () => {
    throw Object.assign(new Error("System limit for number of file watchers reached"), { code: "ENOSPC" });
  });
  syncBuiltinESMExports();
  const unwatched = [];
  try {
    const places = ["deck", "index.html"].map((name) => path.join(folder, name));
    watch = watchSources({ places, onChange: () => {}, onUnwatched: ({ code }) => unwatched.push(code) });
  } finally {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  }
  assert.deepEqual(unwatched, ["ENOSPC"]);
});

test("temporary files of editors are ignored", async () => {
  for (const name of [".a.js.swp", "a.js~", "4913"]) await writeFile(path.join(folder, "deck", name), "a");
  await sleep(300);
  assert.equal(changes, 0);
});
