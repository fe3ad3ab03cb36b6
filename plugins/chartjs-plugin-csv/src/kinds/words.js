/** What kinds say of series and points, for those who hear a chart. */

/** The unit of the values at one position of a series, where they have several. */
export function unitAt({ units, yUnit }, position) {
  return units?.[position] ?? yUnit;
}

/** "2.8 and 7 ms": two values in words, the unit once where both have it. */
export function bothInWords(first, second) {
  const unit = /[^\d.]+$/.exec(second)?.[0];
  return `${unit && first.endsWith(unit) ? first.slice(0, -unit.length) : first} and ${second}`;
}

/** The words that a kind's sentence begins with, and what it says of each series. */
export function tellSeries(kind, model, say, tellOne) {
  const told = model.series.map((series) => `${series.name} ${tellOne(series)}`);
  if (told.length === 0) told.push("no series shown yet");
  return `${kind}${say.title ? ` of ${say.title}` : ""}: ${told.join("; ")}`;
}

/** "9.8 ms (8 ms to 12 ms)", or "not measured". */
export function tellPoint(point, say) {
  if (point === undefined || point.y === null) return "not measured";
  const bounds = say.bounds(point);
  return `${say.y(point.y)}${bounds ? ` (${bounds})` : ""}`;
}
