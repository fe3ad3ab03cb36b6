/**
 * Serves the files that the deck fetches at run time, `benchmarks/…` and `slides/…`, from their folders.
 * A connect-style handler.
 * A missing file is 404 in plain text, never the index page, which a chart would try to read as CSV.
 */

import { readFile, stat } from "node:fs/promises";
import path from "node:path";

import { indexOf, isDataFile, placeWithin, scanBenchmarks } from "./data-sets.js";
import { ownDigests } from "./own-charts.js";

/** What files are called in a response's Content-Type. */
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".csv": "text/csv; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
  ".woff2": "font/woff2",
  ".woff": "font/woff",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".pdf": "application/pdf",
};

/** A talk's chapters, its own charts, and its look. */
const TALK_FILE = /^[^/]+\/(?:[^/]+\.md|charts\/[^/]+\.csv|look\/[^/]+\.(?:css|woff2|svg))$/;

/**
 * @param {{benchmarks: string, slides: string}} folders   absolute paths
 * @param {() => Promise<Record<string, object[]>>} [alterations]   which of the files are altered, by data set
 * @returns {(request, response, next: () => void) => Promise<void>} `next` is called for other addresses
 */
export function dataHandler({ benchmarks, slides }, alterations = () => Promise.resolve({})) {
  return async function serveData(request, response, next) {
    const address = addressOf(request.url);
    const area = /^\/(benchmarks|slides)(?:\/|$)/.exec(address ?? "")?.[1];
    if (address !== null && !area) return next();
    if (!["GET", "HEAD"].includes(request.method)) return refuse(response, 405, "only GET and HEAD");
    if (address === null) return refuse(response, 400, "not an address");
    const name = address.slice(area.length + 2);
    if (area === "benchmarks" && name === "index.json") {
      const { files } = await scanBenchmarks(benchmarks);
      const index = indexOf(files, await alterations(), await ownDigests(slides));
      return send(request, response, mediaTypeOf(name), Buffer.from(`${JSON.stringify(index, null, 2)}\n`));
    }
    // The folder of a data set may lie elsewhere, as on a larger disk; what is in it may not.
    const [dataSet, ...below] = name.split("/");
    const [isServed, ...place] =
      area === "benchmarks"
        ? [isDataFile(name), path.join(benchmarks, dataSet), below.join("/")]
        : [TALK_FILE.test(name), slides, name];
    const file = isServed && (await fileWithin(...place));
    if (!file) return refuse(response, 404, `no such file: ${area}/${name}`);
    return send(request, response, mediaTypeOf(file), await readFile(file));
  };
}

/** The type of a file by its name. */
function mediaTypeOf(file) {
  return TYPES[path.extname(file)] ?? "application/octet-stream";
}

/** The decoded path of a request; null if it is malformed or tries to leave its folder. */
export function addressOf(url) {
  try {
    const address = decodeURIComponent(url.split(/[?#]/, 1)[0]);
    const segments = address.split("/");
    // eslint-disable-next-line no-control-regex
    if (segments.some((part) => part.startsWith(".")) || /[\\\u0000-\u001f]/.test(address)) return null;
    return address;
  } catch {
    return null;
  }
}

/** The real path of a file below a folder, with links followed; null if it is no file or is elsewhere. */
async function fileWithin(folder, name) {
  const file = await placeWithin(folder, name);
  const facts = file && (await stat(file).catch(() => null));
  return facts?.isFile() ? file : null;
}

/**
 * Sends the file of a name below a folder; 404 if there is none, or no name.
 * @param {(body: Buffer) => Buffer} [changed]   what is sent instead of the file's bytes
 */
export async function sendFile(request, response, folder, name, changed = (body) => body) {
  const file = name && (await fileWithin(folder, name));
  if (!file) return refuse(response, 404, `no such file: ${name ?? "?"}`);
  return send(request, response, mediaTypeOf(file), changed(await readFile(file)));
}

/** Sends a body that no cache may keep, because the file may change at any moment. */
function send(request, response, type, body) {
  response.writeHead(200, {
    "Content-Type": type,
    "Content-Length": body.length,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

/** Sends an error as one line of plain text. */
export function refuse(response, status, reason) {
  response.writeHead(status, {
    "Content-Type": "text/plain; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  });
  response.end(`${status}: ${reason}\n`);
}
