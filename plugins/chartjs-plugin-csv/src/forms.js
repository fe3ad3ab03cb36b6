/** What every reader of a CSV file agrees on. */

/** The header that marks the long form. */
export const LONG_HEADER = ["series", "x", "y", "low", "high", "n"];
/** The header of a spread file, which has the statistics behind the values of a wide one. */
export const SPREAD_HEADER = ["series", "x", "low", "high", "min", "max", "n"];

/** More series than anybody can tell apart; a file with more is not meant to be drawn. */
export const MAX_SERIES = 100;
/** The longest name, or x value that is a word, in characters. */
export const MAX_NAME = 200;

/** Common forms of dates and times: 2026-11-22, 22.11.2026, 11/22/2026, 18:20:05. */
const MOMENT =
  /^(\d{4}-\d{1,2}(-\d{1,2}([T ]\d{1,2}:\d{2}.*)?)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}([T ]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)$/;

/** Whether a text is a date or a time. */
export function isMoment(text) {
  return MOMENT.test(text);
}
