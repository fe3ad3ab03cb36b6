/**
 * Serves one talk to both sides of the comparison: the deck at `/`, and the plain approach at `/plain/`. Both read the
 * same chapters and CSV files with the same delay; the deck gets its slides as HTML, as on a published site.
 */

import { readFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";

import { addressOf, dataHandler, fileWithin, refuse, send } from "../data-handler.js";
import { mediaTypeOf } from "../media-types.js";
import { RENDERED_MARK, chapterElement } from "../talk-page.js";
import { unescapeHtml } from "../text/escape.js";
import { renderChapters } from "../text/rendered.js";

const PLAIN = "/plain/";

/**
 * @param {object} given
 * @param {string} given.deck       folder of the deck's bundle
 * @param {string} given.plain      folder of the plain approach's bundle
 * @param {string} given.slides     folder of chapters
 * @param {string} given.benchmarks   folder of data sets
 * @param {string[]|null} [given.chapters]   chapters in order, as the page names them; null for those of the deck's page
 * @returns {Promise<{deckUrl: string, plainUrl: string, delay: (milliseconds: number) => void, close: () => Promise<void>}>}
 *   delay: sets how long each answer with a chapter or data waits from now on
 */
export async function startPerfServer({ deck, plain, slides, benchmarks, chapters = null }) {
  const own = await readFile(path.join(deck, "index.html"), "utf8");
  const names = chapters ?? chaptersIn(own);
  const serveData = dataHandler({ benchmarks, slides });
  const rendered = await renderChapters(await readChapters(slides, names));
  let latency = 0;

  const server = http.createServer(async (request, response) => {
    try {
      const address = addressOf(request.url);
      if (address === null) return refuse(response, 400, "not an address");
      if (/^\/(?:plain\/)?(?:slides|benchmarks)\//.test(address)) {
        // The plain page is in another folder and requests the same files there.
        request.url = request.url.replace(PLAIN, "/");
        if (latency > 0) await new Promise((resolve) => setTimeout(resolve, latency));
        const html = rendered.get(address.slice(1));
        if (html !== undefined) return send(request, response, mediaTypeOf(address), Buffer.from(html));
        return await serveData(request, response, () => refuse(response, 404, "no such file"));
      }
      return await serveBundle(request, response, address);
    } catch (error) {
      return refuse(response, 500, error.message);
    }
  });

  async function serveBundle(request, response, address) {
    const folder = address.startsWith(PLAIN) ? plain : deck;
    const name = address.replace(PLAIN, "/").slice(1) || "index.html";
    const file = await fileWithin(folder, name);
    if (!file) return refuse(response, 404, `no such file: ${name}`);
    const body = await readFile(file);
    if (name !== "index.html") return send(request, response, mediaTypeOf(file), body);
    const page = withChapters(body.toString("utf8"), names);
    return send(
      request,
      response,
      mediaTypeOf(file),
      Buffer.from(folder === deck ? withRenderedMark(page) : page),
    );
  }

  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    deckUrl: `${origin}/`,
    plainUrl: `${origin}${PLAIN}`,
    delay(milliseconds) {
      latency = milliseconds;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The chapters that a page's slides name, in order. Pure. */
export function chaptersIn(html) {
  return [...slidesOf(html).matchAll(/data-markdown="([^"]+)"/g)].map(([, name]) => unescapeHtml(name));
}

/** The page with these chapters instead of its own. Pure. @throws {Error} if the page has no place for them */
export function withChapters(html, names) {
  const sections = names.map((name) => chapterElement(name));
  return html.replace(slidesOf(html), () => `<div class="slides">${sections.join("")}</div>`);
}

function withRenderedMark(html) {
  const { name, content } = RENDERED_MARK;
  return html.replace("</head>", `<meta name="${name}" content="${content}"></head>`);
}

async function readChapters(folder, names) {
  const texts = names.map(async (name) => [
    name,
    await readFile(path.join(folder, path.basename(name)), "utf8"),
  ]);
  return new Map(await Promise.all(texts));
}

function slidesOf(html) {
  const found = /<div class="slides">[\s\S]*?<\/div>/.exec(html)?.[0];
  if (!found) throw new Error('the page has no <div class="slides">');
  return found;
}
