/** A bundle that is shown in place of a data set: its files are answered from memory. How it is read: bundle-file.js. No DOM. */

/** Why a bundle is not shown, as a sentence. */
export class BundleRefused extends Error {}

/**
 * A `fetch` that answers for a bundle's files from memory, and asks the server for everything else.
 * @param {{name: string, files: Map<string, string>}} bundle
 * @param {typeof fetch} fetchFile
 * @param {string} base   the address of the page
 */
export function fetchWith(bundle, fetchFile, base) {
  return async (address, options) => {
    const path = pathOf(bundle, address, base);
    if (path === null) {
      const response = await fetchFile(address, options);
      return isIndex(address, base) ? withListed(bundle, response) : response;
    }
    const text = bundle.files.get(path);
    return text === undefined ? new Response("", { status: 404 }) : new Response(text);
  };
}

/** The path of a bundle's file that an address names; null if it names none. */
export function pathOf({ name }, address, base) {
  const folder = new URL(`benchmarks/${name}/`, base).href;
  const url = new URL(address, base);
  return url.href.startsWith(folder)
    ? decodeURIComponent(`${url.origin}${url.pathname}`.slice(folder.length))
    : null;
}

function isIndex(address, base) {
  const url = new URL(address, base);
  return `${url.origin}${url.pathname}` === new URL("benchmarks/index.json", base).href;
}

/** The server's list of files, with those of the bundle. */
async function withListed({ name, files }, response) {
  let index;
  try {
    index = response.ok ? JSON.parse(await response.text()) : {};
  } catch {
    index = {};
  }
  const listed = { ...index, files: { ...index.files, [name]: [...files.keys()] } };
  return new Response(JSON.stringify(listed));
}
