/**
 * Reads a bundle of somebody's results, as `replay bundle` writes it: gzip of one JSON document that holds redacted files with
 * their digests. It comes from a stranger, so everything about it is checked before anything of it is used, and what is wrong
 * with it is said in a sentence. Nothing leaves the browser. No DOM.
 */

import { parseAnswer } from "./answer.js";
import { BundleRefused } from "./bundle.js";
import { isDataSetName } from "./data-set.js";
import { isObject } from "./manifests.js";

const FORMAT = "replay-bundle";
const VERSION = 1;
const MEBIBYTE = 2 ** 20;
/** What a bundle may hold; `replay bundle` writes none that is larger. */
export const LIMITS = { packedBytes: 16 * MEBIBYTE, bytes: 64 * MEBIBYTE, files: 4000, jsonDepth: 40 };
/** The name of the data set that a bundle is shown as; the dot keeps it apart from those of the site. */
const SUFFIX = ".bundle";

const DOCUMENTS = ["manifest.json", "claims.json"];
const TABLE = /^(?:answer|[a-z0-9][a-z0-9-]{0,63}\/aggregate\/[A-Za-z0-9][A-Za-z0-9.-]{0,199})\.csv$/;
const DIGEST = /^[0-9a-f]{64}$/;

/**
 * Reads a bundle.
 * @param {ReadableStream<Uint8Array>} stream   its bytes
 * @param {{limits?: typeof LIMITS, subtle?: SubtleCrypto}} [options]
 * @returns {Promise<{name: string, label: string, files: Map<string, string>}>} name: under which it is shown; files: by path
 *   below the data set
 * @throws {BundleRefused}
 */
export async function readBundle(stream, { limits = LIMITS, subtle = globalThis.crypto?.subtle } = {}) {
  if (!subtle)
    throw new BundleRefused(
      "This page cannot compare digests, because it was not opened over https: open it at its https address.",
    );
  const text = new TextDecoder("utf-8", { fatal: true });
  const bytes = await unpacked(stream, limits);
  let document;
  try {
    document = JSON.parse(text.decode(bytes));
  } catch {
    throw new BundleRefused("This file is no bundle: what it holds cannot be read as JSON.");
  }
  const stated = checkedForm(document, limits);
  const files = new Map();
  for (const [path, file] of stated) {
    const digest = hexadecimal(await subtle.digest("SHA-256", new TextEncoder().encode(file.text)));
    if (digest !== file.sha256)
      throw new BundleRefused(
        `This bundle was altered or damaged: ${quoted(path)} does not match its digest. Ask for it again.`,
      );
    files.set(path, file.text);
  }
  const name = `${document.data_set}${SUFFIX}`;
  for (const path of DOCUMENTS.filter((listed) => files.has(listed)))
    files.set(path, JSON.stringify({ ...objectIn(files.get(path), path, limits), data_set: name }));
  const manifest = JSON.parse(files.get("manifest.json"));
  if (!isObject(manifest.experiments))
    throw new BundleRefused("This bundle's manifest.json names no experiments.");
  for (const [id, experiment] of Object.entries(manifest.experiments))
    if (!isObject(experiment))
      throw new BundleRefused(`This bundle's manifest.json says nothing of the experiment ${quoted(id)}.`);
  if (files.has("answer.csv") && !isAnswer(files.get("answer.csv")))
    throw new BundleRefused(
      "This bundle's answer.csv is none, or does not name the source of each figure: make it again with replay bundle.",
    );
  const { claims } = JSON.parse(files.get("claims.json") ?? "{}");
  for (const [id, claim] of Object.entries(claims ?? {}))
    if (!isClaim(claim))
      throw new BundleRefused(
        `This bundle's claims.json does not state sentence, verdict, reason and region of ${quoted(id)}: make it again with replay bundle.`,
      );
  const label = typeof manifest.label === "string" ? manifest.label : document.data_set;
  return { name, label, files };
}

/** The bytes of a stream of gzip, counted on their way in and out: a small file may unpack to a huge one. */
async function unpacked(stream, limits) {
  let packed = 0;
  const counted = stream.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        packed += chunk.byteLength;
        if (packed > limits.packedBytes)
          controller.error(new BundleRefused(tooLarge("has", limits.packedBytes)));
        else controller.enqueue(chunk);
      },
    }),
  );
  const parts = [];
  let size = 0;
  const reader = counted.pipeThrough(new DecompressionStream("gzip")).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.byteLength;
      if (size > limits.bytes) throw new BundleRefused(tooLarge("unpacks to", limits.bytes));
      parts.push(value);
    }
  } catch (error) {
    // The rest is neither read nor unpacked. The reader may have failed already, which is what is told.
    await reader.cancel().catch(() => {});
    if (error instanceof BundleRefused) throw error;
    throw new BundleRefused("This file is no bundle, or only a part of one: it cannot be unpacked.");
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function tooLarge(what, bytes) {
  return `This file ${what} more than ${Math.round(bytes / MEBIBYTE)} MiB, which is more than any bundle: it was not read on.`;
}

/** The files that a document states, each of the right form. */
function checkedForm(document, limits) {
  if (!isObject(document) || document.format !== FORMAT)
    throw new BundleRefused("This file is no bundle of Replay: make one with replay bundle.");
  if (document.version !== VERSION)
    throw new BundleRefused(
      `This bundle has the format ${quoted(String(document.version))}, and this talk reads ${VERSION}: make it again with the Replay of this talk.`,
    );
  if (!isDataSetName(document.data_set) || !isDataSetName(`${document.data_set}${SUFFIX}`))
    throw new BundleRefused("This bundle does not name its data set.");
  if (!isObject(document.files)) throw new BundleRefused("This bundle holds no files.");
  const files = Object.entries(document.files);
  if (files.length > limits.files)
    throw new BundleRefused(`This bundle holds more than ${limits.files} files.`);
  for (const [path, file] of files) {
    if (!DOCUMENTS.includes(path) && (!TABLE.test(path) || path.includes("..")))
      throw new BundleRefused(
        `This bundle holds ${quoted(path)}, which is neither a table of a chart nor a description of them.`,
      );
    if (!isObject(file) || typeof file.text !== "string" || !DIGEST.test(file.sha256))
      throw new BundleRefused(`This bundle states no digest of ${quoted(path)}.`);
  }
  if (!Object.hasOwn(document.files, "manifest.json"))
    throw new BundleRefused("This bundle has no manifest.json, which says what it holds.");
  return files;
}

function objectIn(text, path, { jsonDepth }) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  if (!isObject(value)) throw new BundleRefused(`This bundle's ${path} cannot be read as JSON.`);
  if (depthOf(value, jsonDepth) > jsonDepth)
    throw new BundleRefused(`This bundle's ${path} is nested more deeply than any that Replay writes.`);
  return value;
}

/** How deeply a value is nested, as far as `most` + 1. */
function depthOf(value, most) {
  if (value === null || typeof value !== "object") return 0;
  if (most < 0) return 1;
  // One by one: a list of a stranger may be longer than a call may have arguments.
  return 1 + Object.values(value).reduce((deepest, inner) => Math.max(deepest, depthOf(inner, most - 1)), 0);
}

/** Whether an answer has what a talk takes for granted: what was counted has a source. */
function isAnswer(text) {
  try {
    const { modes } = parseAnswer(text);
    return modes.every((row) =>
      Object.keys(row).every(
        (column) => !column.endsWith("_n") || Object.hasOwn(row, column.replace(/_n$/, "_source")),
      ),
    );
  } catch {
    return false;
  }
}

/** Whether a claim has what a talk takes for granted. */
function isClaim(claim) {
  return (
    isObject(claim) &&
    [claim.sentence, claim.verdict, claim.reason, claim.chart ?? ""].every(
      (text) => typeof text === "string",
    ) &&
    Object.values(claim.conditions ?? {}).every((condition) => isObject(condition?.region))
  );
}

function hexadecimal(buffer) {
  return [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A text of a stranger, shortened, without control characters. */
function quoted(text) {
  const plain = text.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, "�");
  return `“${plain.length > 60 ? `${plain.slice(0, 60)}…` : plain}”`;
}
