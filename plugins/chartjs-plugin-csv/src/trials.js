/** What is asked of trials: the worst and the median, and how many there were. Pure. */

import { medianOf, valuesOf, worstOf } from "./figures.js";

/** "median 2.4 s, worst 4.8 s of 20 trials" */
export function trialsInWords({ points }, say) {
  const values = valuesOf({ points });
  if (values.length === 0) return "not measured";
  if (values.length === 1) return `${say.y(values[0])} in the only trial`;
  const worst = worstOf(points, say.settings?.worst);
  return `median ${say.y(medianOf(values))}, worst ${say.y(worst.y)} of ${values.length} trials`;
}

/** The columns of a table of trials. */
export function trialColumns({ axes, settings }, { figureCell, textCell, valueCell }) {
  return [
    { title: "Median", cell: (series) => figureCell(medianOf(valuesOf(series)), axes) },
    { title: "Worst", cell: ({ points }) => valueCell(worstOf(points, settings?.worst), axes) },
    { title: "Trials", cell: (series) => textCell(String(valuesOf(series).length)) },
  ];
}
