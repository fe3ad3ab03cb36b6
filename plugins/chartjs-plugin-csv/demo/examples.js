/** Charts: `csv` is the file, `options` those of Chart.js, `drawn` how many elements each series has. */
const MONTHS = "month;rain;sun\n2024-01;52,4;61\n2024-02;40,1;88\n2024-03;47,9;NA\n2024-04;38,2;171\n";
const SIZES =
  "I/O size,4096,65536,1048576\nWithout journal,30658995,114581905,210000000\nWith journal,5943684,31419250,\n";

/** 20 trials for each way: seconds lost. */
const TRIALS = {
  Journal: [0.2, 0.4, 1, 1.1, 1.2, 1.3, 1.6, 1.9, 2.1, 2.3, 2.4, 2.6, 2.9, 3, 3.2, 3.3, 3.8, 4, 4.6, 4.8],
  "Snapshot every 15 s": [
    1.8, 3, 3.4, 4.6, 5.5, 6, 6.4, 7, 8.2, 9, 9.3, 10, 10.4, 12, 12.3, 12.9, 13, 14, 15.2, 15.9,
  ],
};
const TRIALS_CSV = `series,x,y,low,high,n\n${Object.entries(TRIALS)
  .flatMap(([name, all]) => all.map((y, trial) => `${name},${trial + 1},${y},,,1`))
  .join("\n")}\n`;
/** A pause in one of four runs: mean latency in each quarter of a second. */
const MOMENT = [
  "seconds since the order,-0.5,-0.25,0,0.25,0.5,0.75,1,1.25,1.5",
  "run 1,0.003,0.0031,0.004,,,0.21,0.05,0.004,0.003",
  "run 2,0.0029,0.003,0.004,,0.3,0.09,0.03,0.0035,0.003",
  "run 3,0.003,0.003,0.0038,0.01,0.07,0.11,0.02,0.004,0.003",
  "run 4,0.003,0.0032,0.0039,,,,0.33,0.04,0.003",
].join("\n");
const QUADRANT = [
  "way,lost at worst,an ordinary write,the slowest of a hundred,lost under load",
  "Journal,4.843,0.00983,0.0334,95.01",
  "Snapshot every 15 s,15.911,0.00234,0.0902,17.4",
  "Snapshot a minute,60.692,0.00298,0.152,61.9",
  "Stretch,0,0.031,0.044,",
].join("\n");

const KINDS = [
  {
    title: "quadrant: loss against price; typical full, tail hollow; an arrow to another state",
    type: "quadrant",
    csv: `${QUADRANT}\n`,
    options: {
      plugins: {
        csv: {
          ...{
            xUnit: "seconds",
            yUnit: "seconds",
            xTitle: "lost at worst →",
            yTitle: "until a write is confirmed",
          },
          ...{ ends: { zero: "nothing", infinite: "everything" }, arrow: "at 16 MB/s" },
        },
      },
    },
    drawn: { Journal: 3, "Snapshot every 15 s": 3, "Snapshot a minute": 3, Stretch: 2 },
  },
  {
    title: "dumbbell: typical to tail",
    type: "dumbbell",
    csv: "way,an ordinary write,the slowest of a hundred\nNo mirroring,0.00277,0.00701\nJournal,0.00983,0.0334\nSnapshot a minute,0.00298,0.152\nSnapshot every 15 s,0.00234,0.0902\n",
    options: {
      plugins: { csv: { yUnit: "seconds", emphasis: ["Snapshot a minute"], reference: "No mirroring" } },
    },
    drawn: { "No mirroring": 2, Journal: 2, "Snapshot a minute": 2, "Snapshot every 15 s": 2 },
  },
  {
    title: "forest: estimates with their intervals; full where no difference is excluded",
    type: "forest",
    csv: "series,x,y,low,high,n\nCeph 16,4K writes,2.08,1.93,2.24,6\nCeph 18,4K writes,1.84,1.64,2.07,6\nCeph 20,4K writes,1.81,0.96,2.11,6\nCeph 16,4M writes,2.14,2,2.29,6\nCeph 18,4M writes,2,1.83,2.19,6\nCeph 20,4M writes,2.16,1.8,2.59,6\n",
    options: { plugins: { csv: { yUnit: "ratio", lineName: "free" } } },
    drawn: { "Ceph 16": 2, "Ceph 18": 2, "Ceph 20": 2 },
  },
  {
    title: "strip: trials, their median, and the worst",
    type: "strip",
    csv: TRIALS_CSV,
    options: { plugins: { csv: { yUnit: "seconds" } } },
    drawn: { Journal: 20, "Snapshot every 15 s": 20 },
  },
  {
    title: "squares: a count of units, some of them hollow",
    type: "squares",
    csv: "takeovers,done by themselves,waited for a person\nfrom a journal,70,0\nfrom snapshots,64,6\n",
    options: { plugins: { csv: { yUnit: "count", square: "one takeover", states: ["full", "hollow"] } } },
    drawn: { "from a journal": 2, "from snapshots": 2 },
  },
  {
    title: "squares: a column for each trial, a square for each second lost",
    type: "squares",
    csv: TRIALS_CSV,
    options: { plugins: { csv: { yUnit: "seconds", square: "one second of writes" } } },
    drawn: { Journal: 20, "Snapshot every 15 s": 20 },
  },
  {
    title: "response: what a load gets and how long it waits; the knee, and what lies beyond it",
    type: "response",
    csv: "series,x,y,low,high,n\n4K reads,7350,0.000136,,,6\n4K reads,16122,0.000248,,,6\n4K reads,23400,0.00068,,,6\n4K reads,29700,0.00215,,,6\n",
    options: {
      plugins: {
        csv: { xUnit: "operations_per_second", yUnit: "seconds", xTitle: "a second", yTitle: "latency" },
      },
    },
    drawn: { "4K reads": 4 },
  },
  {
    title: "chain: what is left after each step, what the step lost, and what was full",
    type: "chain",
    csv: 'layer,writes a second,processors,disk\n"The disk, without Ceph",73503,0.28,0.77\n"RADOS, one copy",2330,0.91,0.46\n"RADOS, three copies",757,0.92,0.47\n"RBD, three copies",802,0.79,0.39\n',
    options: { plugins: { csv: { yUnit: "operations_per_second" } } },
    drawn: {
      "The disk, without Ceph": 3,
      "RADOS, one copy": 3,
      "RADOS, three copies": 3,
      "RBD, three copies": 3,
    },
  },
  {
    title: "heatmap: a value for each of two factors",
    type: "heatmap",
    csv: `${MOMENT}\n`,
    options: {
      plugins: { csv: { xUnit: "seconds", yUnit: "seconds", missingName: "not one write was confirmed" } },
    },
    drawn: { "run 1": 7, "run 2": 8, "run 3": 9, "run 4": 6 },
  },
  {
    title: "share: what several have together, and what each waits for it",
    type: "share",
    csv: "clients,1,2,4,8\nfinished,838,943,1012,1167\nslowest of a hundred,0.0104,0.0249,0.0442,0.0724\n",
    options: { plugins: { csv: { units: ["operations_per_second", "seconds"] } } },
    drawn: { finished: 4, "slowest of a hundred": 4 },
  },
];

export const EXAMPLES = [
  ...KINDS,
  {
    title: "A column per series, as a spreadsheet saves it",
    csv: "clients,IOPS,latency\n1,900,1.1\n2,1700,1.2\n4,3100,1.3\n8,4200,1.9\n",
    drawn: { IOPS: 4, latency: 4 },
  },
  {
    title: "A row per series over sizes, with units: a log2 axis, a gap where nothing was measured",
    csv: SIZES,
    options: { plugins: { csv: { yUnit: "bytes_per_second" } } },
    drawn: { "Without journal": 3, "With journal": 2 },
  },
  {
    title: "Semicolons, decimal commas, NA",
    csv: MONTHS,
    drawn: { rain: 4, sun: 3 },
  },
  {
    title: "Dates to scale, and per cent, as a spreadsheet writes them",
    csv: "sep=;\r\ndate;used\r\n22.11.2026;12,5 %\r\n23.11.2026;14 %\r\n30.11.2026;31 %\r\n;\r\n",
    drawn: { used: 3 },
  },
  {
    title: "Comments, and names in colours of their own",
    csv: "# from two runs\nx, red, blue\n1, 3, 1\n2, 2, 4\n",
    options: { plugins: { csv: { styles: { red: { color: "#c4500a" }, blue: { color: "#0072b2" } } } } },
    drawn: { red: 2, blue: 2 },
  },
  {
    title: "The long form: bounds as a band",
    csv: "series,x,y,low,high,n\nLag,0.5,12,10,14,6\nLag,1,11,9,15,6\nLag,2,8,7,9,6\n",
    options: { plugins: { csv: { xUnit: "seconds", yUnit: "seconds", xTitle: "Elapsed" } } },
    drawn: { Lag: 3 },
  },
  {
    title: "Bars over words",
    type: "bar",
    csv: "device,reads,writes\nfast,120,80\nslow,30,10\n",
    options: { plugins: { csv: { orientation: "columns" } } },
    drawn: { reads: 2, writes: 2 },
  },
  {
    title: "Points, several at one place",
    type: "scatter",
    csv: "trial,seconds\n1,12\n1,14\n2,11\n3,19\n",
    drawn: { seconds: 4 },
  },
  {
    title: "A pie, with Chart.js' own legend",
    type: "pie",
    csv: "part,share\ndata,70\njournal,25\nother,5\n",
    options: { plugins: { csv: { orientation: "columns" } } },
    drawn: { share: 3 },
  },
  {
    title: "A radar",
    type: "radar",
    csv: "quality,A,B\nspeed,3,5\nsafety,5,2\nprice,2,4\n",
    options: { plugins: { csv: { orientation: "columns" } } },
    drawn: { A: 3, B: 3 },
  },
  {
    title: "The page's own dataset and axis beside the file, and a mark",
    csv: "x,measured\n0,1\n5,6\n10,9\n",
    data: {
      datasets: [
        {
          label: "Target",
          data: [
            { x: 0, y: 4 },
            { x: 10, y: 12 },
          ],
          borderDash: [4, 4],
        },
      ],
    },
    options: {
      scales: { x: { type: "linear", max: 12 } },
      plugins: { csvMarks: { items: [{ axis: "y", value: 10, label: "limit" }] } },
    },
    drawn: { measured: 3, Target: 2 },
  },
];
