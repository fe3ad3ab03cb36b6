/** The fixture of the deck's tests: two small data sets of made-up numbers, in the shape of real ones. */

import { rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { findings } from "./claims.js";
import { answerFile, longChart, recordingOf, runsFile, wideChart } from "./fixture-files.js";

/** The claims themselves, without what was found. */
const CLAIMS = path.resolve(import.meta.dirname, "../../../benchmarks/tentacle/claims.json");
const SIZES = Array.from({ length: 11 }, (_, step) => 4096 * 2 ** step);
const FEW_SIZES = [4096, 16384, 65536, 524288, 4194304];
const CACHED_SIZES = [4096, 65536];
const REFERENCE = "Without journal";
/** Quantiles of Student's distribution at 97.5 %, by the number of pairs. */
const T_QUANTILES = {
  2: 12.7062,
  3: 4.30265,
  4: 3.18245,
  5: 2.77645,
  6: 2.57058,
  7: 2.44691,
  8: 2.36462,
  9: 2.306,
  10: 2.26216,
};
/** The margin within which a claim treats reads as equal. */
const READ_MARGIN = { low: 0.8, high: 1.25, series: ["With journal"], claims: ["journal-reads-unaffected"] };

/** Made-up bytes per second of a plain image: rises with the size, and levels off. */
const plain = (size, kind) => (({ read: 400e6, write: 240e6 })[kind] * size) / (size + 60_000);

/** The made-up price of each variant, without ÷ with; for journaled writes it falls with the size. */
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

async function writeDataSet(root, dataSet, { label, blocks, scale, sizes, date }) {
  const folder = path.join(root, dataSet);
  const experiments = {};
  const recorded = {};
  const range =
    blocks > 1
      ? { min: (value) => value * 0.88, max: (value) => value * 1.09, n: () => blocks }
      : { min: (value) => value, max: (value) => value, n: () => blocks };
  const interval =
    blocks > 1
      ? { low: (value) => value * 0.93, high: (value) => value * 1.08 }
      : { low: () => null, high: () => null };

  const save = async (experiment, charts) => {
    await mkdir(path.join(folder, experiment, "aggregate"), { recursive: true });
    const entries = charts.map(({ files: _, runs, workload = {}, points, ...entry }) => {
      const sets = points * blocks;
      return [
        entry.name,
        {
          kind: "wide",
          path: `${experiment}/aggregate/${entry.name}.csv`,
          ...entry,
          name: undefined,
          runs: runs.length > 0,
          workload,
          n: { min: blocks, max: blocks },
          attempts: { all: sets, used: sets, invalid: 0 },
          limiter: "cpu",
          measured_to: date,
        },
      ];
    });
    for (const files of [...charts.map((chart) => chart.files), runsFile(charts)]) {
      for (const [file, text] of Object.entries(files))
        await writeFile(path.join(folder, experiment, "aggregate", file), text);
    }
    experiments[experiment].raw = {
      path: `${experiment}/raw`,
      blocks: Array.from({ length: blocks }, (_, at) => at + 1),
    };
    experiments[experiment].charts = Object.fromEntries(entries);
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
    ratio_direction: "reference/variant",
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
  const groups = [];
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
      const x = { label: "I/O size", unit: "bytes", factor: "io_size_bytes" };
      const add = (name, title, unit, better, data, companions, more = {}) =>
        charts.push({
          name,
          title,
          x,
          y: { label: title, unit, better },
          series: data.map(([series]) => series),
          workload: { io_type: kind, io_pattern: pattern },
          points: sizes.length,
          ...wideChart(name, "I/O size", sizes, data, companions, blocks),
          ...more,
        });
      add(`throughput-${workload}`, "Throughput", "bytes_per_second", "higher", rows, range);
      add(`iops-${workload}`, "IOPS", "operations_per_second", "higher", perSecond, range);
      add(`ratio-throughput-${workload}`, "Throughput ratio", "ratio", "lower", ratios, interval, {
        ...(kind === "read" && { margin: READ_MARGIN }),
      });
      groups.push({ arrives: "run", charts: charts.slice(-3).map(({ name }) => name), xs: sizes });
    }
  }
  await save("rbd-journaling", charts);
  recorded["rbd-journaling"] = { blocks, groups };

  if (blocks > 1) {
    const clients = [1, 2, 4, 8];
    const sweep = (name, unit, better, of) => {
      const points = (price) =>
        clients.map((count) => [count, of(count, price), of(count, price) * 0.88, of(count, price) * 1.09]);
      const rows = [
        [REFERENCE, points(1)],
        ["With journal", points(3)],
      ];
      return {
        name,
        title: name,
        kind: "long",
        x: { label: "Clients", unit: "count", factor: "clients" },
        y: { label: name, unit, better },
        series: rows.map(([series]) => series),
        points: clients.length,
        ...longChart(name, rows, blocks),
      };
    };
    experiments["client-sweep"] = {
      title: "Random writes by the number of clients",
      blocks,
      scale,
      variants: [],
      parameters: { io_depth: 4 },
    };
    const sweeps = [
      sweep(
        "iops-randwrite-4096",
        "operations_per_second",
        "higher",
        (n, price) => (9000 * n) / (n + 2) / price,
      ),
      sweep("latency-mean-randwrite-4096", "seconds", "lower", (n, price) => 0.0008 * n ** 1.2 * price),
      sweep("latency-p99-randwrite-4096", "seconds", "lower", (n, price) => 0.002 * n ** 1.5 * price),
    ];
    await save("client-sweep", sweeps);
    recorded["client-sweep"] = {
      blocks,
      groups: [{ arrives: "run", charts: sweeps.map(({ name }) => name), xs: clients }],
    };
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
        x: { label: "Trial", unit: "count", factor: "block" },
        y: { label: "Time to the first write", unit: "seconds", better: "lower" },
        series: rows.map(([series]) => series),
        summary: {
          journal: { median_seconds: 3.2, min_seconds: 3, max_seconds: 3.4, n: blocks },
          snapshot: { median_seconds: 3.05, min_seconds: 2.6, max_seconds: 3.5, n: blocks },
        },
        points: 1,
        ...longChart("seconds-to-first-write-planned", rows, 1),
      },
    ]);
    recorded.failover = {
      blocks,
      groups: [{ arrives: "row", charts: ["seconds-to-first-write-planned"], xs: trials }],
    };
  }

  const startedAt = "2026-01-01T08:00:00.000Z";
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
    measured_from: startedAt,
    measured_to: date,
    machines: ["fixture"],
    git_commits: [],
    experiments,
  };
  await saveJson("manifest.json", manifest);
  await writeFile(path.join(folder, "answer.csv"), answerFile(blocks));
  const claims = JSON.parse(await readFile(CLAIMS, "utf8"));
  await saveJson("claims.json", findings(claims, { dataSet, experiments: Object.keys(experiments), blocks }));
  await saveJson(
    "recording.json",
    recordingOf(dataSet, recorded, { startedAt, quantiles: blocks > 1 ? T_QUANTILES : {} }),
  );

  function saveJson(name, value) {
    return writeFile(path.join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
  }
}

/** Writes both data sets into a folder: `fixture` of ten blocks, `fixture-small` of one. */
export async function writeFixture(root) {
  await writeDataSet(root, "fixture", {
    label: "made-up numbers for tests",
    blocks: 10,
    scale: "talk",
    sizes: SIZES,
    date: "2026-01-03T20:00:00.000Z",
  });
  await writeDataSet(root, "fixture-small", {
    label: "made-up numbers, one block",
    blocks: 1,
    scale: "quick",
    sizes: [4096, 65536, 4194304],
    date: "2026-02-01T09:00:00.000Z",
  });
}

async function temporaryFixture() {
  const root = await mkdtemp(path.join(tmpdir(), "replay-fixture-"));
  process.once("exit", () => rmSync(root, { recursive: true, force: true }));
  await writeFixture(root);
  return root;
}

/** A folder with both data sets, which is removed when the tests end. Tests only read it. */
export const FIXTURE = await temporaryFixture();
