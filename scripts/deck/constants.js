/** Shared constants of the deck's programs. Imports nothing, because options are read before packages are installed. */

/** The default port of the present server. */
export const DEFAULT_PORT = 8000;

/** The file beside a frozen site's index.html that records what was frozen. */
export const RECORD = "frozen.json";

/** The meta element by which the page of a built site is known. */
export const PUBLISHED = "replay:published";

/** The data set of `npm start`: git ignores it, and a site contains it only on request. */
export const PRIVATE_DATA_SET = "local";

/** What a sentence of a talk can be; see docs/wording.md. */
export const KINDS = ["measured", "source", "definition", "judgement"];
