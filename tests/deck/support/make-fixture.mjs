/**
 * Writes the deck's fixture: two small data sets of made-up numbers, in the shape of real ones.
 * Run it after changing it: node tests/deck/support/make-fixture.mjs [CLAIMS]
 * The claims themselves, without what was found, are those of CLAIMS: benchmarks/reference/claims.json.
 */

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { findings } from "./claims.js";

const ROOT = path.resolve(import.meta.dirname, "../../fixtures/benchmarks");
const CLAIMS =
  process.argv[2] ?? path.resolve(import.meta.dirname, "../../../benchmarks/reference/claims.json");
const SIZES = Array.from({ length: 11 }, (_, step) => 4096 * 2 ** step);
const FEW_SIZES = [4096, 16384, 65536, 524288, 4194304];
const CACHED_SIZES = [4096, 65536];
const REFERENCE = "Without journal";

/** Made-up bytes per second of a plain image: rises with the size, and levels off. */
const plain = (size, kind) => (({ read: 400e6, write: 240e6 })[kind] * size) / (size + 60_000);

/** Made-up price of each variant, without ÷ with: it falls with the size for journaled writes. */
const VARIANTS = [
  { name: "without-journal", label: REFERENCE, reference: true, price: () => 1 },
  {
    name: "with-journal",
    label: "With journal",
    price: (size, kind) => (kind === "read" ? 1 : 2 + 24_000 / size),
  },
  {
    name: "journal-mirrored",
    label: "Journal mirrored",
    sizes: FEW_SIZES,
    price: (size, kind) => (kind === "read" ? 1.1 : 2.4 + 28_000 / size),
  },
  { name: "snapshot-mirrored", label: "Snapshot mirrored", sizes: FEW_SIZES, price: () => 1.2 },
  {
    name: "without-journal-again",
    label: "Without journal, again",
    price: (size) => (size % 3 ? 0.97 : 1.02),
  },
  {
    name: "without-journal-cached",
    label: "Without journal, cached",
    sizes: CACHED_SIZES,
    kinds: ["write"],
    price: () => 0.25,
  },
  {
    name: "with-journal-cached",
    label: "With journal, cached",
    sizes: CACHED_SIZES,
    kinds: ["write"],
    price: () => 0.3,
  },
];

/** Nine significant digits, as derive writes them. */
const number = (value) => (value === null ? "" : String(Number(value.toPrecision(9))));

function table(axis, columns, rows) {
  const line = (cells) =>
    cells.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",");
  return `${[line([axis, ...columns.map(String)]), ...rows.map(([name, cells]) => line([name, ...cells.map(number)]))].join("\n")}\n`;
}

/** A chart's file in the long form: of each series, its points as `[x, y]` or `[x, y, low, high]`. */
function longFile(name, series, n) {
  const lines = series.flatMap(([label, points]) =>
    points.map(([x, y, low = null, high = null]) => [label, x, ...[y, low, high].map(number), n].join(",")),
  );
  return { [`${name}.csv`]: `${["series,x,y,low,high,n", ...lines].join("\n")}\n` };
}

/** The files of one chart: the values and, where it has them, its companions. */
function chartFiles(name, axis, columns, rows, companions) {
  const files = { [`${name}.csv`]: table(axis, columns, rows) };
  for (const [suffix, change] of Object.entries(companions)) {
    const changed = rows.map(([label, cells]) => [
      label,
      cells.map((cell) => (cell === null ? null : change(cell))),
    ]);
    files[`${name}.${suffix}.csv`] = table(axis, columns, changed);
  }
  return files;
}

async function writeDataSet(dataSet, { label, blocks, scale, sizes, date }) {
  const folder = path.join(ROOT, dataSet);
  await rm(folder, { recursive: true, force: true });
  const experiments = {};
  const range = { min: (value) => value * 0.88, max: (value) => value * 1.09, n: () => blocks };
  const interval =
    blocks > 1
      ? { low: (value) => value * 0.93, high: (value) => value * 1.08 }
      : { low: () => null, high: () => null };

  const save = async (experiment, charts) => {
    await mkdir(path.join(folder, experiment, "aggregate"), { recursive: true });
    const listed = {};
    for (const { name, title, kind = "wide", x, y, series, summary, files } of charts) {
      for (const [file, text] of Object.entries(files)) {
        await writeFile(path.join(folder, experiment, "aggregate", file), text);
      }
      listed[name] = {
        title,
        path: `${experiment}/aggregate/${name}.csv`,
        kind,
        x,
        y,
        series,
        n: { min: blocks, max: blocks },
        ...(summary && { summary }),
        limiter: "cpu",
        measured_to: date,
      };
    }
    experiments[experiment].charts = listed;
  };

  experiments["rbd-journaling"] = {
    title: "rbd bench with and without journaling",
    blocks,
    scale,
    cells: 4 * sizes.length * VARIANTS.length,
    attempts: 4 * sizes.length * blocks,
    invalid: { too_short: 1 },
    skipped: [],
    abandoned_cells: 0,
    factors: { io_type: ["read", "write"], io_pattern: ["seq", "rand"], io_size_bytes: sizes },
    parameters: {
      io_threads: 16,
      image_size_bytes: 1073741824,
      object_size_bytes: 4194304,
      smallest_io_size_bytes: sizes[0],
      largest_io_size_bytes: sizes.at(-1),
      target_seconds: 10,
      snapshot_interval_seconds: 1,
    },
    control:
      blocks > 1
        ? { intervals: 44, excluding_one: 2, share: 0.0454545, geometric_mean: 0.994 }
        : { intervals: 0, excluding_one: 0, share: null, geometric_mean: 1.01 },
    variants: VARIANTS.map(({ name, label: shown, reference = false }) => ({
      name,
      label: shown,
      reference,
    })),
    limiters: { cpu: 88 },
  };
  const charts = [];
  for (const kind of ["read", "write"]) {
    for (const pattern of ["seq", "rand"]) {
      const workload = `${kind}-${pattern}`;
      const slowdown = pattern === "rand" ? 0.8 : 1;
      const shown = VARIANTS.filter(({ kinds }) => !kinds || kinds.includes(kind));
      const value = (variant, size) =>
        variant.sizes && !variant.sizes.includes(size)
          ? null
          : (slowdown * plain(size, kind)) / variant.price(size, kind);
      const rows = shown.map((variant) => [variant.label, sizes.map((size) => value(variant, size))]);
      const perSecond = rows.map(([name, cells]) => [
        name,
        cells.map((cell, i) => (cell === null ? null : cell / sizes[i])),
      ]);
      const ratios = shown
        .filter(({ reference }) => !reference)
        .map((variant) => [
          variant.label,
          sizes.map((size) => (value(variant, size) === null ? null : variant.price(size, kind))),
        ]);
      const x = { label: "I/O size", unit: "bytes" };
      const add = (name, title, unit, better, data, companions) =>
        charts.push({
          name,
          title,
          x,
          y: { label: title, unit, better },
          series: data.map(([series]) => series),
          files: chartFiles(name, "I/O size", sizes, data, companions),
        });
      add(`throughput-${workload}`, "Throughput", "bytes_per_second", "higher", rows, range);
      add(`iops-${workload}`, "IOPS", "operations_per_second", "higher", perSecond, range);
      add(`ratio-throughput-${workload}`, "Throughput ratio", "ratio", "lower", ratios, interval);
    }
  }
  await save("rbd-journaling", charts);

  if (blocks > 1) {
    const clients = [1, 2, 4, 8];
    const sweep = (name, unit, better, of) => {
      const points = (price) =>
        clients.map((count) => [count, of(count, price), of(count, price) * 0.88, of(count, price) * 1.09]);
      const rows = [
        [REFERENCE, points(1)],
        ["With journal", points(3)],
      ];
      const files = longFile(name, rows, blocks);
      const y = { label: name, unit, better };
      return {
        name,
        title: name,
        kind: "long",
        x: { label: "Clients", unit: "count" },
        y,
        series: rows.map(([s]) => s),
        files,
      };
    };
    experiments["client-sweep"] = {
      title: "Random writes by the number of clients",
      blocks,
      scale,
      variants: [],
      parameters: { io_depth: 4 },
    };
    await save("client-sweep", [
      sweep(
        "iops-randwrite-4096",
        "operations_per_second",
        "higher",
        (n, price) => (9000 * n) / (n + 2) / price,
      ),
      sweep("latency-p99-randwrite-4096", "seconds", "lower", (n, price) => 0.002 * n ** 1.5 * price),
    ]);
    const trials = Array.from({ length: blocks }, (_, trial) => trial + 1);
    const rows = [
      ["Journal", trials.map((trial) => [trial, 3 + (trial % 3) * 0.2])],
      ["Snapshot", trials.map((trial) => [trial, 2.6 + (trial % 4) * 0.3])],
    ];
    experiments.failover = { title: "Fail-over of a mirrored image", blocks, scale, variants: [] };
    await save("failover", [
      {
        name: "seconds-to-first-write-planned",
        title: "Time to the first write",
        kind: "long",
        x: { label: "Trial", unit: "count" },
        y: { label: "Time to the first write", unit: "seconds", better: "lower" },
        series: rows.map(([series]) => series),
        summary: {
          journal: { median_seconds: 3.2, min_seconds: 3, max_seconds: 3.4, n: blocks },
          snapshot: { median_seconds: 3.05, min_seconds: 2.6, max_seconds: 3.5, n: blocks },
        },
        files: longFile("seconds-to-first-write-planned", rows, 1),
      },
    ]);
  }

  const manifest = {
    schema_version: 1,
    data_set: dataSet,
    label,
    site: "fixture",
    limitation: "Made-up numbers, for tests only.",
    altered: false,
    setup: {
      ceph_version: "16.2.15",
      librbd_version: "16.2.15",
      osds: 3,
      replicas: 3,
      cpu: "a processor made up for tests",
      cores: 2,
      memory_bytes: 25276502016,
      kernel: "Linux 6.1",
      object_store: "BlueStore",
    },
    measured_from: "2026-01-01T08:00:00.000Z",
    measured_to: date,
    machines: ["fixture"],
    git_commits: [],
    experiments,
  };
  await saveJson("manifest.json", manifest);
  const claims = JSON.parse(await readFile(CLAIMS, "utf8"));
  await saveJson("claims.json", findings(claims, { dataSet, experiments: Object.keys(experiments), blocks }));

  function saveJson(name, value) {
    return writeFile(path.join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
  }
}

await writeDataSet("fixture", {
  label: "made-up numbers for tests",
  blocks: 10,
  scale: "talk",
  sizes: SIZES,
  date: "2026-01-03T20:00:00.000Z",
});
await writeDataSet("fixture-small", {
  label: "made-up numbers, one block",
  blocks: 1,
  scale: "quick",
  sizes: [4096, 65536, 4194304],
  date: "2026-02-01T09:00:00.000Z",
});
