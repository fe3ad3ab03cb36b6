/**
 * The files beside a chart's own, `X.csv`: bounds and counts are in `X.spread.csv`, or in older data in a file for each
 * statistic; `runs.csv` has the runs of all charts of its folder. Pure.
 */

/** The suffix of the file with all statistics, and those of older data: smallest and largest run, count, interval. */
export const SPREAD = "spread";
export const COMPANIONS = [SPREAD, "min", "max", "n", "low", "high"];

/** `a/X.csv?v=1` and `min` → `a/X.min.csv?v=1`. */
export function companionUrl(url, suffix) {
  return url.replace(
    /(\.csv)?([?#].*)?$/i,
    (_, extension = ".csv", rest = "") => `.${suffix}${extension}${rest}`,
  );
}

const FILE_NAME = /([^/?#]*)((?:[?#].*)?)$/;

/** The file with the runs behind a chart: `a/X.csv?v=1` → `a/runs.csv?v=1`. */
export function runsUrl(url) {
  return url.replace(FILE_NAME, (_, name, rest) => `runs.csv${rest}`);
}

/** The name of a chart's file, by which `runs.csv` calls the chart: `a/X.csv?v=1` → `X`. */
export function chartNameOf(url) {
  return decoded(FILE_NAME.exec(url)[1].replace(/\.csv$/i, ""));
}

/** An address, or a part of one, as people read it. */
export function decoded(address) {
  try {
    return decodeURIComponent(address);
  } catch {
    return address; // a lone "%"
  }
}
