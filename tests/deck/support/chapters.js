/** A deck of a few of the talk's chapters, which opens faster and is cheaper to inspect. */

const SECTION = /<section\s[^]*?data-markdown="([^"]*)"[^]*?><\/section>/g;

/** Leaves only these chapters, `slides/….md`, in the page and in the windows that it opens. */
export function onlyChapters(page, files) {
  return page.context().route(
    ({ pathname }) => pathname === "/",
    async (route) => {
      const response = await route.fetch();
      const html = await response.text();
      const body = html.replace(SECTION, (section, file) => (files.includes(file) ? section : ""));
      await route.fulfill({ response, body });
    },
  );
}

/** The files of the talk's chapters, in the order of the talk. @returns {Promise<string[]>} */
export async function chaptersOf(url) {
  const html = await (await fetch(url)).text();
  return [...html.matchAll(SECTION)].map(([, file]) => file);
}
