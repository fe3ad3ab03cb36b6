// Prints what a long and busy talk costs, and whether it stays flat: the present server's memory before, under and after
// load, and the memory and frames of a long deck that is left open and paged through.
//
//   node scripts/present_memory.mjs [--requests N] [--streams N] [--changes SECONDS] [--limit MB]
//                                   [--deck MINUTES] [--slides N]
//
// Under load, many requests come at once while event streams are open; then a CSV changes each second, and every stream
// must be told of it. Ends with 1 if the server has more than the limit once the load is over, if a request failed, if a
// stream missed the last change, or if the deck's memory or frames grew.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { ensureBundle } from "./deck/bundle.js";
import { launchChromium } from "./deck/chromium.js";
import { talkOfCharts, writeTalk } from "./deck/perf/generated-talk.js";
import { canvasBytes, changeSlides } from "./deck/perf/in-page.js";
import { startPerfServer } from "./deck/perf/perf-server.js";
import { quantile } from "./deck/perf/statistics.js";

const ROOT = path.resolve(import.meta.dirname, "..");
const SETTLE_MS = 15_000;
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
/** Slides that are paged through before a rest, frames that are waited for after each, and the rest. */
const PAGED = { changes: 20, framesEach: 8, restMs: 3000 };
/** What the last minute may have more than the one after the warm-up. */
const GROWTH = { heapMB: (before) => 1.25 * before + 5, frameMs: (before) => 2 * before + 17 };

const options = {
  requests: { type: "string", default: "500" },
  streams: { type: "string", default: "2000" },
  changes: { type: "string", default: "60" },
  limit: { type: "string", default: "200" },
  deck: { type: "string", default: "10" },
  slides: { type: "string", default: "300" },
};
const { values } = parseArgs({ options });
const wanted = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]));
const wrong = Object.keys(wanted).find((name) => !(wanted[name] >= 0));
if (wrong) {
  console.error(`--${wrong} wants a number, not ${JSON.stringify(values[wrong])}`);
  process.exit(2);
}

const folder = await mkdtemp(path.join(tmpdir(), "replay-load-"));
try {
  const problems = [
    ...(wanted.streams || wanted.requests ? await loadServer(wanted) : []),
    ...(wanted.deck ? await pageDeck(wanted) : []),
  ];
  for (const problem of problems) console.error(`not flat: ${problem}`);
  process.exitCode = problems.length ? 1 : 0;
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Loads a present server; returns what is wrong. */
async function loadServer({ requests, streams, changes, limit }) {
  const talk = talkOfCharts(20);
  const root = path.join(folder, "server");
  const { benchmarks } = await writeTalk(root, talk);
  const server = spawn(
    process.execPath,
    [path.join(ROOT, "scripts/present.mjs"), "--no-open", "--port", "0"],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, REPLAY_BENCHMARKS: benchmarks },
    },
  );
  try {
    const url = await addressOf(server);
    const files = ["", "benchmarks/index.json", ...[...talk.files.keys()].slice(0, 3)];
    await Promise.all(files.map((file) => get(url, file)));
    const figures = { before: residentMB(server.pid) };
    const open = await Promise.all(Array.from({ length: streams }, () => listen(url)));
    const answers = await Promise.all(
      Array.from({ length: requests }, (_, one) => get(url, files[one % files.length])),
    );
    const failed = answers.filter((status) => status !== 200).length;
    figures.requests = residentMB(server.pid);
    const [name, text] = [...talk.files][0];
    for (let change = 1; change <= changes; change += 1) {
      await writeFile(path.join(root, name), text.replace(/\d+\.\d\d/, `${change}.00`));
      await sleep(SECOND_MS);
    }
    const told = await settled(() => open.map(({ events }) => events));
    figures.changes = residentMB(server.pid);
    for (const one of open) one.request.destroy();
    await sleep(SETTLE_MS);
    figures.after = residentMB(server.pid);
    const [fewest, most] = [Math.min(...told), Math.max(...told)];
    console.log(
      `requests ${requests} (${failed} failed), streams ${streams}, a CSV changed ${changes} times`,
    );
    if (streams)
      console.log(`events told to each stream: ${fewest === most ? most : `${fewest} to ${most}`}`);
    for (const [when, megabytes] of Object.entries(figures)) console.log(`${when.padEnd(9)} ${megabytes} MB`);
    return [
      ...(failed ? [`${failed} requests failed`] : []),
      ...(figures.after > limit ? [`the server keeps ${figures.after} MB, more than ${limit} MB`] : []),
      ...(streams && changes && (fewest !== most || fewest === 0)
        ? ["not every stream was told of every change"]
        : []),
    ];
  } finally {
    server.kill();
  }
}

/** Pages through a long deck; returns what is wrong. */
async function pageDeck({ deck: minutes, slides }) {
  const { folder: bundle } = await ensureBundle();
  const talk = await writeTalk(path.join(folder, "deck"), talkOfCharts(slides));
  const server = await startPerfServer({ deck: bundle, plain: bundle, ...talk });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, reducedMotion: "reduce" });
    await page.goto(server.deckUrl);
    await page.waitForSelector("html[data-deck-ready]", { timeout: MINUTE_MS });
    const session = await page.context().newCDPSession(page);
    const seen = [];
    console.log(
      `\n${slides} slides\nminute  slides  frame median, p95 (ms)  heap (MB)  canvases (MB)  nodes`,
    );
    for (let minute = 1; minute <= minutes; minute += 1) {
      const frames = [];
      for (const until = Date.now() + MINUTE_MS; Date.now() < until; await sleep(PAGED.restMs))
        frames.push(...(await page.evaluate(changeSlides, PAGED)));
      const now = { ...(await memoryOf(session)), canvasMB: (await page.evaluate(canvasBytes)) / 1e6 };
      seen.push({ ...now, median: quantile(frames, 0.5), p95: quantile(frames, 0.95) });
      console.log(lineOf(minute, frames.length, seen.at(-1)));
    }
    return grown(seen);
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Compares the last minute with the second: in the first, slides are shown for the first time. */
function grown(seen) {
  const [before, after] = [seen[Math.min(1, seen.length - 1)], seen.at(-1)];
  return [
    ...(after.heapMB > GROWTH.heapMB(before.heapMB)
      ? [`the heap grew from ${digits(before.heapMB)} to ${digits(after.heapMB)} MB`]
      : []),
    ...(after.canvasMB > GROWTH.heapMB(before.canvasMB) ? ["canvases grew"] : []),
    ...(after.median > GROWTH.frameMs(before.median) ? ["frames take longer"] : []),
  ];
}

function lineOf(minute, changes, { median, p95, heapMB, canvasMB, nodes }) {
  const frames = `${digits(median)}, ${digits(p95)}`;
  return [
    String(minute).padEnd(6),
    String(changes).padEnd(6),
    frames.padEnd(22),
    digits(heapMB).padEnd(9),
    digits(canvasMB).padEnd(13),
    nodes,
  ].join("  ");
}

function digits(number) {
  return number.toFixed(1);
}

/** The page's heap once its garbage was collected, and how many nodes it has. */
async function memoryOf(session) {
  await session.send("HeapProfiler.collectGarbage");
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  const { JSHeapUsedSize: bytes, Nodes: nodes } = Object.fromEntries(
    metrics.map(({ name, value }) => [name, value]),
  );
  return { heapMB: bytes / 1e6, nodes };
}

/** What `read` returns once it has not changed for a second. */
async function settled(read) {
  for (let last = null; ;) {
    const now = read();
    if (last !== null && now.join() === last.join()) return now;
    last = now;
    await sleep(2 * SECOND_MS);
  }
}

function addressOf(child) {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (piece) => {
      said += piece;
      const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(said);
      if (found) resolve(found[0]);
    });
    child.once("exit", () => reject(new Error(`the server ended: ${said}`)));
  });
}

/** The resident memory of a process, in whole MB (10^6 bytes). */
function residentMB(pid) {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Math.round((Number(kilobytes) * 1024) / 1e6);
}

function get(url, file) {
  return new Promise((resolve, reject) => {
    http
      .get(`${url}${file}`, { agent: false }, (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode));
      })
      .on("error", reject);
  });
}

/** Opens an event stream; `events` counts what it was told. */
function listen(url) {
  return new Promise((resolve, reject) => {
    const stream = { events: 0 };
    stream.request = http.get(`${url}__replay/events`, { agent: false }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (text) => (stream.events += text.split("event: ").length - 1));
      response.on("error", () => {}); // it ends when this program closes it
      resolve(stream);
    });
    stream.request.on("error", reject);
  });
}
