/** How a kind reads files: which way round, and several of them as one model. */

import { pointOf } from "../table.js";

/** A row for each series, whatever their names and those of the columns are. */
export const ROWS = { orientation: "rows" };

/** One model of several files: a series for each of the first one's, with a value of each file at one x. Pure. */
export function valueOfEachFile(models, { names, at }) {
  const [first] = models;
  const titles = models.map((model, index) => names?.[index] ?? model.xLabel);
  const place = placesIn(first, at)[0];
  return {
    kind: "wide",
    xLabel: "",
    xs: titles,
    series: first.series.map(({ name }) => ({
      name,
      points: models.flatMap((model, index) => pointsAt(model, name, place, titles[index])),
    })),
  };
}

/** One model of several files: a series for each file, over the x values that are asked for. Pure. */
export function seriesOfEachFile(models, { names, at, of }) {
  const xs = placesIn(models[0], at);
  return {
    kind: "wide",
    xLabel: models[0].xLabel,
    xs,
    series: models.map((model, index) => {
      const name = of ?? model.series[0]?.name;
      const points = xs.flatMap((x) => pointsAt(model, name, x, x));
      return { name: names?.[index] ?? `${index + 1}`, points };
    }),
  };
}

/** The x values of a model that are asked for, or all. */
export function placesIn(model, at) {
  const wanted = at && [at].flat().map(String);
  return wanted ? model.xs.filter((x) => wanted.includes(String(x))) : model.xs;
}

function pointsAt(model, name, x, title) {
  const points =
    model.series.find((candidate) => candidate.name === name)?.points.filter((point) => point.x === x) ?? [];
  return (points.length ? points : [pointOf(x)]).map((point) => ({ ...point, x: title }));
}
