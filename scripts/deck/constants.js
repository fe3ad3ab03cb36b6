/** What several programs of the deck agree on. It imports nothing: the options are read before packages are installed. */

/** Where the present server listens unless told otherwise. */
export const DEFAULT_PORT = 8000;

/** The file beside a frozen site's index.html that says what was frozen. */
export const RECORD = "frozen.json";

/** The data set of `npm start`: git ignores it, and a published site holds it only when it is asked for. */
export const PRIVATE_DATA_SET = "local";
