/** The requests of a page. */

/**
 * Records every request of a page, its frames and the windows that it opens.
 * @param {import("playwright-core").BrowserContext} context
 * @returns {{addresses: string[], foreign: (within: string) => string[]}} `foreign` gives those that leave `within`
 */
export function recordRequests(context) {
  const addresses = [];
  context.on("request", (request) => addresses.push(request.url()));
  context.on("page", (page) => page.on("websocket", (socket) => addresses.push(socket.url())));
  return {
    addresses,
    foreign: (within) =>
      addresses.filter((address) => !address.startsWith(within) && !/^(?:data|blob|about):/.test(address)),
  };
}
