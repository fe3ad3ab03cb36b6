import { CsvError } from "./error.js";

/** Largest CSV accepted, in bytes. */
export const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Fetches one CSV file as text.
 *
 * Asks the server each time whether the file changed (`cache: "no-cache"`). Refuses a status other than 2xx,
 * HTML (servers of single-page applications answer a missing file with 200 and their page), more than
 * `maxBytes`, and bytes that are neither UTF-8 nor, with a byte order mark, UTF-16.
 *
 * @param {string} url
 * @param {{signal?: AbortSignal, maxBytes?: number, fetch?: typeof fetch|null}} [options]   fetch: null is the page's
 * @returns {Promise<string>}
 * @throws {CsvError}; an abort rejects with the signal's own reason
 */
export async function loadText(url, { signal, maxBytes = MAX_BYTES, fetch = null } = {}) {
  const fail = (reason, details) => {
    throw new CsvError(reason, { url, ...details });
  };
  let response;
  try {
    response = await (fetch ?? globalThis.fetch)(url, { signal, cache: "no-cache" });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    fail("cannot be fetched (is the server running?)", { kind: "network", cause });
  }
  if (!response.ok) {
    fail(`the server answered ${[response.status, response.statusText].filter(Boolean).join(" ")}`, {
      kind: "status",
      status: response.status,
    });
  }
  const type = response.headers.get("content-type") ?? "";
  if (/^\s*(text\/html|application\/xhtml)/i.test(type)) {
    fail("the server answered with a web page, not with CSV (is the file missing?)", { kind: "html" });
  }
  let text;
  try {
    text = decode(await readBytes(response, maxBytes, fail), fail);
  } catch (cause) {
    if (cause instanceof CsvError || signal?.aborted) throw cause;
    fail("the transfer broke off", { kind: "network", cause });
  }
  if (/^\s*</.test(text)) fail("the content is markup, not CSV (is the file missing?)", { kind: "html" });
  return text;
}

async function readBytes(response, maxBytes, fail) {
  const tooLarge = () => fail(`larger than ${maxBytes} bytes, the limit`, { kind: "size" });
  if (Number(response.headers.get("content-length")) > maxBytes) {
    await response.body?.cancel();
    tooLarge();
  }
  const chunks = [];
  let size = 0;
  const reader = response.body?.getReader();
  if (!reader) return new Uint8Array(0);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel();
      tooLarge();
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** Text as UTF-8, or as UTF-16 if its byte order mark says so: spreadsheets save "Unicode text" like that. */
function decode(bytes, fail) {
  const [first, second] = bytes;
  const mark = (first << 8) | second;
  const encoding = mark === 0xfffe ? "utf-16le" : mark === 0xfeff ? "utf-16be" : "utf-8";
  let text;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (cause) {
    return fail(`not ${encoding.toUpperCase()}; save it as UTF-8`, { kind: "encoding", cause });
  }
  if (text.includes("\0"))
    fail("no text, or UTF-16 without a byte order mark; save it as UTF-8", { kind: "encoding" });
  return text;
}
