import { decoded } from "./companions.js";
import { choiceOf } from "./entries.js";

/**
 * What a chart could not show beside its data, in sentences. Pure.
 * @param {object} drawn
 * @param {object} drawn.settings   options of the plugin
 * @param {import("./table.js").Model|null} drawn.model
 * @param {"log"|"linear"} drawn.scale   how the y axis is drawn
 * @param {{data: object|null, error: Error|null}} drawn.second   the second data set
 * @param {{error: Error|null}} drawn.runs   the runs behind the points
 * @param {boolean} drawn.isBeside   whether the second data set is drawn
 * @param {import("./kinds.js").Kind|null} [drawn.kind]
 * @returns {string[]}
 */
export function notesOf({ settings, model, scale, second, runs, isBeside, kind = null }) {
  const { overlay } = settings;
  const lines = model && kind?.notes ? kind.notes(model, settings) : [];
  if (model?.lacking) lines.push(`Not here: ${model.lacking.map(decoded).join(", ")}.`);
  if (settings.lines && runs.error) lines.push(`The single runs are not shown: ${runs.error.message}.`);
  const label = overlay?.label ?? overlay?.url;
  if (overlay && second.error) lines.push(`${label} is not shown: ${second.error.message}.`);
  else if (overlay && second.data && model && !isBeside)
    lines.push(`${label} is not shown: its x values are of another kind, or its values have another unit.`);
  const left = model && scale === "log" && !kind?.marks ? withoutPlace(model, settings) : 0;
  if (left === 1) lines.push("A logarithmic axis cannot show one value of 0 or less.");
  if (left > 1) lines.push(`A logarithmic axis cannot show ${left} values of 0 or less.`);
  return lines;
}

function withoutPlace(model, settings) {
  const { drawn } = choiceOf(settings);
  const points = model.series.filter(({ name }) => drawn(name)).flatMap((series) => series.points);
  return points.filter(({ y }) => y !== null && y <= 0).length;
}
