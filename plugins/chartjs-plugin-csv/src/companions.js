/** The files beside a chart's own, `X.csv`: bounds, counts and runs have its name and a suffix. Pure. */

/** All suffixes: smallest and largest run, number of runs, interval, the runs themselves. */
export const COMPANIONS = ["min", "max", "n", "low", "high", "runs"];

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
