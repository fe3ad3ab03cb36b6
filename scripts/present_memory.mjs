// Prints the memory of the present server before, under and after load: many requests at once, and open event streams.
//
//   node scripts/present_memory.mjs [--requests N] [--streams N] [--limit MB]
//
// Ends with 1 if the server does not give its memory back: if it has more than the limit once the load is over.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

const ROOT = path.resolve(import.meta.dirname, "..");
const SETTLE_MS = 15_000;
const options = {
  requests: { type: "string", default: "500" },
  streams: { type: "string", default: "200" },
  limit: { type: "string", default: "200" },
};
const { values } = parseArgs({ options });
const [requests, streams, limit] = ["requests", "streams", "limit"].map((name) => Number(values[name]));

const server = spawn(process.execPath, [path.join(ROOT, "scripts/present.mjs"), "--no-open", "--port", "0"], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const url = await addressOf(server);
  const files = [
    "",
    "benchmarks/index.json",
    "benchmarks/reference/manifest.json",
    "benchmarks/reference/claims.json",
  ];
  await Promise.all(files.map((file) => get(url, file)));
  const figures = { before: residentMB() };
  const open = await Promise.all(Array.from({ length: streams }, () => listen(url)));
  const answers = await Promise.all(
    Array.from({ length: requests }, (_, one) => get(url, files[one % files.length])),
  );
  const failed = answers.filter((status) => status !== 200).length;
  figures.under = residentMB();
  for (const one of open) one.destroy();
  await sleep(SETTLE_MS);
  figures.after = residentMB();
  console.log(`requests ${requests} (${failed} failed), streams ${streams}`);
  for (const [when, megabytes] of Object.entries(figures)) console.log(`${when.padEnd(7)} ${megabytes} MB`);
  process.exitCode = figures.after > limit || failed ? 1 : 0;
} finally {
  server.kill();
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

/** The resident memory of the server, in whole MB (10^6 bytes). */
function residentMB() {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"));
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

function listen(url) {
  return new Promise((resolve, reject) => {
    const request = http.get(`${url}__replay/events`, { agent: false }, (response) => {
      response.resume();
      response.on("error", () => {}); // it ends when this program closes it
      resolve(request);
    });
    request.on("error", reject);
  });
}
