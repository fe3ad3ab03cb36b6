/** The file beside a frozen site's index.html that says what was frozen. */
export const RECORD = "frozen.json";
