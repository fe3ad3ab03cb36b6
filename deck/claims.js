/**
 * What the data set says of each claim of the talk: bound values (`<data value="CLAIM.ratio">`), and the slide that lists
 * the verdicts. Everything comes from `benchmarks/<data set>/claims.json`; nothing is computed here but positions.
 */

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 160;
const HEIGHT = 28;
/** A verdict is told by its word and its sign; colour only helps. */
const SIGNS = {
  held: "✓",
  refuted: "✗",
  inconclusive: "?",
  "not testable here": "–",
  "not measured": "·",
};

/** The address of a data set's claims. */
export function claimsAddress(dataSet) {
  return `benchmarks/${dataSet}/claims.json`;
}

/** A ratio as it is spoken: 15.6×, 2.31×, 0.482×. */
export function formatRatio(value) {
  return Number.isFinite(value) ? `${Number(value.toPrecision(3))}×` : null;
}

/**
 * The source of bound values that begin with a claim's id: `CLAIM.verdict`, `CLAIM.reason`, `CLAIM.<condition>` (its
 * estimate), `CLAIM.<condition>.low`, `.high` and `.n`.
 * @param {() => object|null} current   gives the claims document to read
 */
export function claimSource(current) {
  return ([id, name, part = "estimate"]) => {
    const claims = current()?.claims;
    if (!claims || !Object.hasOwn(claims, id) || name === undefined) return null;
    const claim = claims[id];
    if (["verdict", "reason", "sentence"].includes(name)) return claim[name];
    const condition = Object.hasOwn(claim.conditions ?? {}, name) ? claim.conditions[name] : null;
    if (condition === null || !Object.hasOwn(condition, part)) return null;
    if (part === "n") return String(condition.n);
    return formatRatio(condition[part]);
  };
}

/**
 * The rows of a table of claims, in the order asked for.
 * @param {object|null} document   claims.json
 * @param {string[]} ids   which; none for all
 */
export function claimRows(document, ids = []) {
  const claims = document?.claims ?? {};
  return (ids.length ? ids : Object.keys(claims))
    .filter((id) => Object.hasOwn(claims, id))
    .map((id) => ({ id, ...claims[id], conditions: Object.values(claims[id].conditions ?? {}) }));
}

/**
 * Where a forest plot's parts stand, on a logarithmic axis that holds the interval, the region and 1. Pure.
 * @returns {{one: number, region: [number, number], interval: [number, number]|null, point: number}|null} px
 */
export function forestPlot({ estimate, low, high, region }, width = WIDTH) {
  if (!(estimate > 0)) return null;
  const ends = [1, estimate, low, high, region.low, region.high].filter((value) => value > 0);
  const from = Math.log(Math.min(...ends) / 1.25);
  const to = Math.log(Math.max(...ends) * 1.25);
  const at = (value) => ((Math.log(value) - from) / (to - from)) * width;
  return {
    one: at(1),
    region: [region.low > 0 ? at(region.low) : 0, region.high > 0 ? at(region.high) : width],
    interval: low > 0 && high > 0 ? [at(low), at(high)] : null,
    point: at(estimate),
  };
}

/** Writes or rewrites every `[data-claims]` below `root`; its value lists the claims' ids. */
export function writeClaims(root, document) {
  for (const place of root.querySelectorAll("[data-claims]")) {
    const ids = place.dataset.claims.split(/\s+/).filter(Boolean);
    const rows = claimRows(document, ids);
    place.replaceChildren(rows.length ? tableOf(rows, place.ownerDocument) : absent(place.ownerDocument));
  }
}

function absent(page) {
  const line = page.createElement("p");
  line.textContent = "This data set has no claims.json: derive it again.";
  return line;
}

function tableOf(rows, page) {
  const table = page.createElement("table");
  table.className = "claims";
  const head = table.createTHead().insertRow();
  for (const title of ["Claim", "Source", "Found", "Region", "Verdict"]) {
    const cell = page.createElement("th");
    cell.scope = "col";
    cell.textContent = title;
    head.append(cell);
  }
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    const [first] = row.conditions;
    line.insertCell().textContent = row.sentence;
    line.insertCell().textContent = row.source;
    line.insertCell().textContent = first ? (formatRatio(first.estimate) ?? "–") : "–";
    const drawn = first && drawing(first, page);
    line.insertCell().append(drawn || "–");
    const verdict = line.insertCell();
    verdict.className = `verdict ${row.verdict.replaceAll(" ", "-")}`;
    verdict.textContent = `${SIGNS[row.verdict] ?? ""} ${row.verdict}`;
    verdict.title = row.reason;
  }
  return table;
}

function drawing(condition, page) {
  const plot = forestPlot(condition);
  if (!plot) return null;
  const svg = page.createElementNS(SVG, "svg");
  const set = (element, attributes) => {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const add = (name, attributes) => svg.append(set(page.createElementNS(SVG, name), attributes));
  set(svg, {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    width: WIDTH,
    height: HEIGHT,
    role: "img",
    "aria-label": `${condition.says}: ${condition.reason}`,
  });
  const middle = HEIGHT / 2;
  const [left, right] = plot.region;
  add("rect", { class: "region", x: left, y: 4, width: Math.max(1, right - left), height: HEIGHT - 8 });
  add("path", { class: "one", d: `M${plot.one} 0V${HEIGHT}` });
  if (plot.interval)
    add("path", { class: "interval", d: `M${plot.interval[0]} ${middle}H${plot.interval[1]}` });
  add("circle", { class: "point", cx: plot.point, cy: middle, r: 5 });
  return svg;
}
