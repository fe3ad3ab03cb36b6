/**
 * The files beside a chart's own, `X.csv`: bounds and counts are in `X.spread.csv`, or in older data in a file for each
 * statistic; `runs.csv` has the runs of all charts of its folder. Pure.
 */

/** The suffix of the file with all statistics, and those of older data: smallest and largest run, count, interval. */
export const SPREAD = "spread";
export const COMPANIONS = [SPREAD, "min", "max", "n", "low", "high"];

const COMPANION = new RegExp(`\\.(${COMPANIONS.join("|")})(\\.csv(?:[?#].*)?)$`, "i");

/** `a/X.csv?v=1` and `min` → `a/X.min.csv?v=1`. */
export function companionUrl(url, suffix) {
  return url.replace(
    /(\.csv)?([?#].*)?$/i,
    (_, extension = ".csv", rest = "") => `.${suffix}${extension}${rest}`,
  );
}

/**
 * The chart's file to which a companion belongs: `a/X.min.csv?v=1` → `{url: "a/X.csv?v=1", suffix: "min"}`. A file
 * that is no companion belongs to itself; its suffix is "".
 */
export function ownerOf(url) {
  const [, suffix = "", rest = ""] = COMPANION.exec(url) ?? [];
  return { url: suffix ? url.slice(0, -`.${suffix}${rest}`.length) + rest : url, suffix };
}

const FILE_NAME = /([^/?#]*)((?:[?#].*)?)$/;

/** The file with the runs behind a chart: `a/X.csv?v=1` → `a/runs.csv?v=1`. */
export function runsUrl(url) {
  return url.replace(FILE_NAME, (_, name, rest) => `runs.csv${rest}`);
}

/** The name of a chart's file, by which `runs.csv` calls the chart: `a/X.csv?v=1` → `X`. */
export function chartNameOf(url) {
  const name = FILE_NAME.exec(url)[1].replace(/\.csv$/i, "");
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a lone "%"
  }
}
