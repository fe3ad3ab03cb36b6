import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".csv": "text/csv" };

/** Package folders, found as Node finds them, so that hoisting does not matter. */
const PACKAGES = Object.fromEntries(
  ["chart.js", "@kurkle/color", "reveal.js", "reveal-4", "reveal-5"].map((name) => {
    const [scope] = require.resolve.paths(name).filter((folder) => existsSync(join(folder, name)));
    return [name, join(scope, name)];
  }),
);

/** Where the scripts of each reveal.js lie: the current one, and its predecessors under names of their own. */
const REVEAL = {
  "reveal.js": ["dist/reveal.mjs", "dist/plugin/markdown.mjs"],
  "reveal-4": ["dist/reveal.esm.js", "plugin/markdown/markdown.esm.js"],
  "reveal-5": ["dist/reveal.esm.js", "plugin/markdown/markdown.esm.js"],
};

const importMap = (reveal) => ({
  imports: {
    "chart.js": "/packages/chart.js/dist/chart.js",
    "chart.js/helpers": "/packages/chart.js/dist/helpers.js",
    "@kurkle/color": "/packages/@kurkle/color/dist/color.esm.js",
    "reveal.js": `/packages/${reveal}/${REVEAL[reveal][0]}`,
    "reveal.js/plugin/markdown": `/packages/${reveal}/${REVEAL[reveal][1]}`,
    "chartjs-plugin-csv": "/plugin/src/index.js",
    "chartjs-plugin-csv/reveal": "/plugin/src/reveal.js",
  },
});

// As strict as a published deck; only the page's own inline script carries the nonce.
const POLICY = "default-src 'self'; script-src 'self' 'nonce-test'; style-src 'self'; img-src 'self' data:";

/**
 * A server on 127.0.0.1 for one test file. `routes` maps a path to `{status, type, body, delay}` or a function that
 * returns one; `page(path, {head, body, script, reveal})` adds an HTML page under the policy, `reveal` its package of reveal.js; `requests` lists what was asked.
 */
export async function startServer() {
  const routes = new Map();
  const requests = [];
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    requests.push(path);
    const route = routes.get(path);
    if (route) {
      const {
        status = 200,
        type = "text/csv",
        body = "",
        delay = 0,
        headers = {},
      } = typeof route === "function" ? route() : route;
      if (delay) await new Promise((resolve) => setTimeout(resolve, delay));
      response.writeHead(status, { "content-type": type, "cache-control": "no-store", ...headers });
      response.end(body);
      return;
    }
    const file = fileOf(path);
    if (!file || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404, { "content-type": "text/plain" });
      response.end("not found");
      return;
    }
    response.writeHead(200, {
      "content-type": TYPES[extname(file)] ?? "application/octet-stream",
      // Files of packages stay as they are while tests run; what a test sets as a route is fetched each time.
      "cache-control": "max-age=3600",
    });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin,
    routes,
    requests,
    csv: (path, body) => routes.set(path, { body }),
    page(path, { head = "", body, script, policy = POLICY, reveal = "reveal.js" }) {
      const map = `<script type="importmap" nonce="test">${JSON.stringify(importMap(reveal))}</script>`;
      const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Test</title>
        <link rel="icon" href="data:,">${map}${head}</head><body>${body}
        <script type="module" nonce="test">${script}</script></body></html>`;
      routes.set(path, {
        type: "text/html",
        body: html,
        headers: policy ? { "content-security-policy": policy } : {},
      });
    },
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

function fileOf(path) {
  const clean = normalize(path);
  if (clean.startsWith("/plugin/src/")) return join(ROOT, clean.slice("/plugin/".length));
  for (const [name, folder] of Object.entries(PACKAGES)) {
    const prefix = `/packages/${name}/`;
    if (clean.startsWith(prefix)) return join(folder, clean.slice(prefix.length));
  }
  return null;
}
