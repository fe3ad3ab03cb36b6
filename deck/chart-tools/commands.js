/**
 * Where a chart comes from and how to measure it again: words, and commands to copy. Pure functions.
 */

/** The data set for somebody's own measurements: next to the data on show, never into them. */
const OWN_DATA_SET = "mine";
const SHELL_SAFE = /^[A-Za-z0-9_./:=@%+-]+$/;

/**
 * The commands that measure a chart again and show both results.
 * @param {{manifest: object|null, name: string|null, experiment: object|null, dataSet: string|null}} place
 * @returns {{title: string, command: string}[]} empty if the manifest does not say what was measured
 */
export function commandsFor({ manifest, name, experiment, dataSet }) {
  const site = experiment?.site ?? manifest?.site ?? null;
  if (!site || !name) return [];
  const data = dataSet === OWN_DATA_SET ? `${OWN_DATA_SET}-again` : OWN_DATA_SET;
  const scale = experiment?.scale ? ["--scale", experiment.scale] : [];
  return [
    {
      title: "Measure it again",
      command: shell("./replay measure --site", site, "--data", data, ...scale, "--experiment", name),
    },
    { title: "Derive its charts", command: shell("./replay derive --data", data) },
    {
      title: "Show both",
      command: shell("npm run present -- --data", data),
      then: `then add &compare=${dataSet} to the address`,
    },
  ];
}

function shell(command, ...words) {
  return [command, ...words.map(quoted)].join(" ");
}

function quoted(word) {
  return SHELL_SAFE.test(word) ? word : `'${String(word).replaceAll("'", "'\\''")}'`;
}

/**
 * The attempts behind a chart: how many there are, which ones count, and where they are.
 * @param {{experiment: object|null, entry: object|null, name: string|null, dataSet: string|null}} place
 * @returns {{text: string, tidy?: string, raw?: string}|null} without tidy and raw if only charts are here, as of a bundle;
 *   null for a chart that the manifest does not have
 */
export function attemptsBehind({ experiment, entry, name, dataSet }) {
  if (!entry?.attempts) return null;
  const { all, used, invalid } = entry.attempts;
  const text = `${all} attempts: ${used} used, ${invalid ? `${invalid} void but kept` : "none void"}.`;
  if (!experiment.raw) return { text };
  const folder = `benchmarks/${dataSet}/${name}`;
  return { text, tidy: `${folder}/tidy.csv`, raw: `${folder}/raw/${blockPacks(experiment.raw.blocks)}` };
}

/** "block-01-*.tar.gz … block-10-*.tar.gz": each block is a pack that any tar opens. */
function blockPacks(blocks) {
  const names = [blocks[0], blocks.at(-1)].map((block) => `block-${String(block).padStart(2, "0")}-*.tar.gz`);
  return blocks.length === 0 ? "" : [...new Set(names)].join(" … ");
}
