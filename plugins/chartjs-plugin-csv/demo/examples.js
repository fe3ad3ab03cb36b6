/** Ten charts: `csv` is the file, `options` those of Chart.js, `drawn` what is to be seen of it. */
const MONTHS = "month;rain;sun\n2024-01;52,4;61\n2024-02;40,1;88\n2024-03;47,9;NA\n2024-04;38,2;171\n";
const SIZES =
  "I/O size,4096,65536,1048576\nWithout journal,30658995,114581905,210000000\nWith journal,5943684,31419250,\n";

export const EXAMPLES = [
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
