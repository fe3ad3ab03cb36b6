/**
 * The plainest of static servers: files as they lie, and 404. The build looks at the site with it as a reader's browser
 * will, and tests open the site from a subfolder.
 */

import http from "node:http";

import { addressOf, refuse, sendFile } from "./data-handler.js";

/**
 * Serves a folder on a free port of 127.0.0.1.
 * @param {string} folder
 * @param {{under?: string}} [options]   under: the address of the folder, as "/some/where/"; all else is 404
 * @returns {Promise<{url: string, close: () => Promise<void>}>} url: the address of the folder's index.html
 */
export async function serveFolder(folder, { under = "/" } = {}) {
  const server = http.createServer(async (request, response) => {
    const address = addressOf(request.url);
    const name = address?.startsWith(under) ? address.slice(under.length) : null;
    try {
      await sendFile(request, response, folder, name?.replace(/(^|\/)$/, "$1index.html"));
    } catch (error) {
      refuse(response, 500, error.message);
    }
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}${under}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
