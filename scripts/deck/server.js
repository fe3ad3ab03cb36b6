/**
 * The present server: the bundled deck, slides and data from where they lie, and the news of what changed.
 * It listens on 127.0.0.1 only.
 */

import http from "node:http";
import path from "node:path";

import { alterationLines, watchAlterations } from "./alterations.js";
import { bundleSources, ensureBundle, removeOldBundles } from "./bundle.js";
import { addressOf, dataHandler, refuse, sendFile } from "./data-handler.js";
import { benchmarksRoot, talkRoot } from "./data-sets.js";
import { watchData } from "./data-watch.js";
import { DEFAULT_PORT } from "./constants.js";
import { EventStream } from "./event-stream.js";
import { watchSources } from "./source-watch.js";

const HOST = "127.0.0.1";
const PORTS_TO_TRY = 50;
const EVENTS = "__replay/events";

/**
 * Starts the server.
 * @param {object} [options]
 * @param {number} [options.port]   wanted port; when it is busy the next free one is taken; 0 for any
 * @param {string|null} [options.data]   the data set to show, as `?data=` in the address
 * @param {string|null} [options.meanwhile]   the data set whose charts stand in for those that `data` lacks so far
 * @param {string} [options.benchmarks]   folder of data sets; REPLAY_BENCHMARKS or the project's by default
 * @param {boolean} [options.followSources]   reload open pages when a slide or the deck itself changes
 * @param {(line: string) => void} [options.log]   called with what goes wrong while serving
 * @returns {Promise<{url: string, port: number, portWasBusy: boolean, close: () => Promise<void>}>}
 * @throws {Error} no free port, or the bundle does not build
 */
export async function startPresentServer({
  port = DEFAULT_PORT,
  data = null,
  meanwhile = null,
  benchmarks = benchmarksRoot(),
  followSources = true,
  log = () => {},
} = {}) {
  let { folder } = await ensureBundle();
  const events = new EventStream();
  const slides = path.join(talkRoot(), "slides");
  const alterations = watchAlterations({
    benchmarks,
    onChange(altered) {
      for (const line of alterationLines(altered)) log(`ALTERED: ${line}`);
      events.send("data", { files: ["benchmarks/index.json"] });
    },
    onError: (error) => log(`The data could not be compared with what was recorded: ${error.message}`),
  });
  const serveData = dataHandler({ benchmarks, slides }, () => alterations.current());
  const server = http.createServer(async (request, response) => {
    try {
      await respond(request, response);
    } catch (error) {
      log(`${request.url}: ${error.message}`);
      if (!response.headersSent) refuse(response, 500, "the server failed; its terminal says why");
      else response.destroy();
    }
  });

  function respond(request, response) {
    // A page elsewhere that makes a name point to 127.0.0.1 must not read the data.
    if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? ""))
      return refuse(response, 403, "this server answers to 127.0.0.1 and localhost only");
    const [place, known] = request.url.split("?since=");
    if (place === `/${EVENTS}`) return events.add(request, response, known ?? null);
    return serveData(request, response, () => serveBundle(request, response));
  }

  function serveBundle(request, response) {
    if (!["GET", "HEAD"].includes(request.method)) return refuse(response, 405, "only GET and HEAD");
    const address = addressOf(request.url);
    const name = address === "/" ? "index.html" : address?.slice(1);
    return sendFile(request, response, folder, name, (body) =>
      name.endsWith(".html") ? withEvents(body, events.mark) : body,
    );
  }

  async function onSource() {
    try {
      ({ folder } = await ensureBundle());
      events.send("source", {});
    } catch (error) {
      log(`The deck does not build, so the last version stays on show: ${error.message}`);
    }
  }

  const { bound, busy } = await listen(server, port);
  const dataWatch = await watchData({
    root: benchmarks,
    onChange(files) {
      events.send("data", { files: files.map((file) => `benchmarks/${file}`) });
      alterations.changed();
    },
  });
  const places = followSources ? [...(await bundleSources()), slides] : [];
  let building = Promise.resolve();
  const sourceWatch = watchSources({
    places,
    // One after the other, so that the page on show is of the last change.
    onChange: () => (building = building.then(onSource)),
    onUnwatched: (error) =>
      log(`Not every edit of slides and deck will be noticed; reload the page after one: ${error.message}`),
  });
  removeOldBundles(folder).catch(() => {});

  const query = new URLSearchParams();
  if (data !== null) query.set("data", data);
  if (meanwhile !== null) query.set("meanwhile", meanwhile);
  return {
    url: `http://${HOST}:${bound}/${query.size ? `?${query}` : ""}`,
    port: bound,
    portWasBusy: busy,
    async close() {
      dataWatch.close();
      alterations.close();
      sourceWatch.close();
      events.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Tells the page where changes are announced, and after which event its own look at the data begins. A static site has no
 * such line and listens to nothing.
 */
function withEvents(html, mark) {
  const line = `<meta name="replay:events" content="${EVENTS}?since=${mark}">`;
  return Buffer.from(html.toString("utf8").replace("</head>", `${line}</head>`));
}

async function listen(server, wanted) {
  for (let port = wanted; port < wanted + PORTS_TO_TRY; port += 1) {
    const error = await new Promise((resolve) => {
      server.once("error", resolve);
      server.listen(port, HOST, () => {
        server.off("error", resolve);
        resolve(null);
      });
    });
    if (!error) return { bound: server.address().port, busy: port !== wanted };
    if (!["EADDRINUSE", "EACCES"].includes(error.code)) throw error;
  }
  throw new Error(`no free port from ${wanted} to ${wanted + PORTS_TO_TRY - 1}; name another with --port`);
}
