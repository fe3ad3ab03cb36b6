/** The fixture's CSV files and its recording, in the shape in which derive writes them. Pure. */

/** Made-up spread of ten runs around their median, smallest and largest like the fixture's minimum and maximum. */
const SPREAD = [0.88, 0.92, 0.95, 0.97, 0.99, 1.01, 1.02, 1.04, 1.06, 1.09];
/** The same for ratios, around their geometric mean. */
const RATIO_SPREAD = [0.9, 0.94, 0.96, 0.98, 0.99, 1 / 0.99, 1 / 0.98, 1 / 0.96, 1 / 0.94, 1 / 0.9];
/** The made-up duration of a set. */
const SET_SECONDS = 60;

const SPREAD_COLUMNS = ["series", "x", "low", "high", "min", "max", "n"];

/** Nine significant digits, as derive writes them. */
export const number = (value) => (value === null ? "" : String(Number(value.toPrecision(9))));

const quoted = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const text = (rows) =>
  `${rows.map((cells) => cells.map((cell) => quoted(String(cell))).join(",")).join("\n")}\n`;

function table(axis, columns, rows) {
  return text([[axis, ...columns], ...rows.map(([name, cells]) => [name, ...cells.map(number)])]);
}

/** The value of one block, as a share of the value that the chart shows. */
function shareOf(block, blocks, ratio) {
  return blocks === 1 ? 1 : (ratio ? RATIO_SPREAD : SPREAD)[block - 1];
}

/** The rows of `runs.csv` behind points `[series, x, y]` of a chart; points without a value have none. */
function runsOf(name, points, blocks) {
  const ratio = name.startsWith("ratio-");
  return points
    .filter(([, , y]) => y !== null)
    .flatMap(([series, x, y]) =>
      Array.from({ length: blocks }, (_, at) => [
        name,
        series,
        x,
        number(y * shareOf(at + 1, blocks, ratio)),
        at + 1,
        1,
      ]),
    );
}

/** `runs.csv`: the runs of all charts of an experiment, sorted by chart. */
export function runsFile(charts) {
  const rows = charts.toSorted((a, b) => (a.name < b.name ? -1 : 1)).flatMap(({ runs }) => runs);
  return rows.length > 0
    ? { "runs.csv": text([["chart", "series", "x", "y", "block", "attempt"], ...rows]) }
    : {};
}

/** Made-up answers: the label of a mode, the seconds that it loses, at worst and typically, and what it adds to a write. */
const ANSWERS = {
  none: ["No mirroring", "none", "", "", ""],
  "journal-poll-5": ["Journal mirrored", "journal-mirrored", 4.5, 2.2, 0.0071],
  "snapshot-60": ["Snapshots every 60 s", "snapshot-mirrored", 59, 31, 0.0011],
  "snapshot-15": ["Snapshots every 15 s", "snapshot-mirrored", 15.5, 8.3, 0.0017],
  "snapshot-1": ["Snapshots every second", "snapshot-mirrored", 3.1, 2.4, 0.041],
};

/** answer.csv, with the columns that slides read. */
export function answerFile(n) {
  const header = [
    ...["name", "label", "mode", "recovery_point_worst_seconds", "recovery_point_median_seconds"],
    ...["recovery_point_n", "recovery_point_source", "recovery_time_worst_seconds"],
    ...["latency_added_4k_seconds", "latency_added_4k_low_seconds", "latency_added_4k_high_seconds"],
    ...["latency_added_4k_n", "latency_added_4k_source"],
  ];
  const rows = Object.entries(ANSWERS).map(([name, [label, mode, worst, median, added]]) => {
    const lost = worst === "" ? ["", "", "", "", ""] : [worst, median, n, "failover", 1.5];
    const interval = added === "" || n === 1 ? ["", ""] : [added * 0.9, added * 1.2];
    return [
      name,
      label,
      mode,
      ...lost,
      added,
      ...interval,
      ...(added === "" ? ["", ""] : [n, "rbd-journaling"]),
    ];
  });
  return text([header, ...rows]);
}

/**
 * A chart in the long form, its file and the runs behind it: of each series, its points as `[x, y]` or
 * `[x, y, low, high]`. `n` runs stand behind each.
 */
export function longChart(name, series, n) {
  const rows = series.flatMap(([label, points]) =>
    points.map(([x, y, low = null, high = null]) => [label, x, ...[y, low, high].map(number), n]),
  );
  const points = series.flatMap(([label, all]) => all.map(([x, y]) => [label, x, y]));
  return {
    files: { [`${name}.csv`]: text([["series", "x", "y", "low", "high", "n"], ...rows]) },
    runs: n > 1 ? runsOf(name, points, n) : [],
  };
}

/**
 * A chart in the wide form: its files, which are the values and their spread, and the runs behind it.
 * @param {string} name
 * @param {string} axis   its title
 * @param {number[]} columns
 * @param {[string, (number|null)[]][]} rows
 * @param {Record<string, (value: number) => number|null>} statistics   by column of the spread file, what stands there for a value
 * @param {number} blocks
 */
export function wideChart(name, axis, columns, rows, statistics, blocks) {
  const fields = (label, x, value) => [
    ...[label, x],
    ...SPREAD_COLUMNS.slice(2).map((column) => {
      const change = statistics[column];
      return change && value !== null ? number(change(value)) : "";
    }),
  ];
  const spread = rows.flatMap(([label, cells]) => cells.map((cell, i) => fields(label, columns[i], cell)));
  const points = rows.flatMap(([label, cells]) => cells.map((cell, i) => [label, columns[i], cell]));
  return {
    files: {
      [`${name}.csv`]: table(axis, columns, rows),
      [`${name}.spread.csv`]: text([SPREAD_COLUMNS, ...spread]),
    },
    runs: runsOf(name, points, blocks),
  };
}

/**
 * recording.json: each experiment as if its sets had been run one after the other, block by block.
 * @param {string} dataSet
 * @param {Record<string, {blocks: number, groups: {arrives: "run"|"row", charts: string[], xs: number[]}[]}>} experiments
 *   groups: charts of the same runs
 */
export function recordingOf(dataSet, experiments, { startedAt, quantiles }) {
  const recorded = Object.entries(experiments).map(([name, { blocks, groups }]) => {
    let clock = 0;
    const moments = groups.map(() => []);
    for (let block = 1; block <= blocks; block += 1) {
      groups.forEach(({ arrives, xs }, at) => {
        for (const x of arrives === "row" ? [block] : xs)
          moments[at].push([(clock += SET_SECONDS), x, block]);
      });
    }
    const start = Date.parse(startedAt);
    return [
      name,
      {
        started_at: new Date(start).toISOString(),
        ended_at: new Date(start + clock * 1000).toISOString(),
        seconds: clock,
        attempts: clock / SET_SECONDS,
        groups: groups.map(({ arrives, charts }, at) => ({
          arrives,
          charts,
          seconds: moments[at].map(([seconds]) => seconds),
          x: moments[at].map(([, x]) => x),
          ...(arrives === "run" && { block: moments[at].map(([, , block]) => block) }),
        })),
      },
    ];
  });
  return {
    schema_version: 1,
    data_set: dataSet,
    altered: false,
    longest_pause_seconds: SET_SECONDS,
    confidence: 0.95,
    t_quantiles: quantiles,
    experiments: Object.fromEntries(recorded),
  };
}
