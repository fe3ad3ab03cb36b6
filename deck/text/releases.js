/**
 * The same claims in several data sets, side by side: `<div data-releases="headline-16 headline-18" data-release-claims="…">`.
 * A row is a claim, a column a data set, and all plots of a row have one axis, so that what moves from release to release is
 * seen. A data set that is not here keeps its column and says so. The last column says whether what was found in the newest
 * release differs from the older ones by more than noise.
 */

import { VERDICT_SIGNS, decidingCondition, decidingName, isCount, shortEstimate } from "../data/claims.js";
import { formatRatio, unbroken } from "../data/format.js";
import { movesOf } from "../data/moves.js";
import { element, makeScrollable } from "../page/elements.js";
import { renewChildren } from "../page/in-place.js";
import { drawForestPlot } from "./forest-plot.js";
import { describeCells } from "./stacked-tables.js";

const PLOT_WIDTH = 160;
const NOT_HERE = "not measured here";
/** By what the test of a difference says: a sign, and what it means. */
const MOVED = new Map([
  [true, ["≠", "moved"]],
  [false, ["≈", "within noise"]],
  [null, ["·", "not tested"]],
]);

/**
 * What the table shows. Pure.
 * @param {string[]} ids   of claims
 * @param {{name: string, claims: object|null, manifest: object|null, releases?: object|null}[]} sets
 * @returns {{columns: {name: string, title: string, here: boolean}[], newest: string|null,
 *            rows: {id: string, sentence: string, cells: ({condition: object|null, verdict: string}|null)[],
 *                   moves: ReturnType<typeof movesOf>}[]}}
 *   a cell is null where its data set is not here; rows are of the claims that some data set has; newest: the title of the
 *   last data set that was compared with others, null if none was; moves: how far it moved from each that has a column
 */
export function releaseRows(ids, sets) {
  const columns = sets.map(({ name, claims, manifest }) => ({
    name,
    title: manifest?.setup?.ceph_version ? `Ceph ${manifest.setup.ceph_version}` : name,
    here: claims !== null,
  }));
  const compared = sets.findLast(({ releases }) => releases) ?? null;
  const shown = (move) => columns.some(({ name, here }) => here && name === move.from);
  const rows = ids.map((id) => {
    const found = sets.map(({ claims }) => claims?.claims?.[id] ?? null);
    const cells = found.map((claim) =>
      claim === null ? null : { condition: decidingCondition(claim), verdict: claim.verdict },
    );
    const own = compared?.claims?.claims?.[id];
    const moves = own ? movesOf(compared.releases, id, decidingName(own)).filter(shown) : [];
    return { id, sentence: found.find(Boolean)?.sentence ?? null, cells, moves };
  });
  return {
    columns,
    newest: compared && columns[sets.indexOf(compared)].title,
    rows: rows.filter(({ sentence }) => sentence !== null),
  };
}

/**
 * How many of the figures shown moved, since each older release, in one sentence. Pure.
 * @param {ReturnType<typeof releaseRows>} table
 * @returns {string|null} null if no ratios were compared
 */
export function movedSentence({ columns, newest, rows }) {
  // Counts are not tested: they agree, or they do not.
  const moves = rows.flatMap((row) => row.moves).filter(({ ratio }) => ratio !== null);
  const tested = moves.filter(({ moved }) => moved !== null);
  if (moves.length > 0 && tested.length === 0)
    return `${newest}: no difference is tested yet (·); that takes two blocks of each release.`;
  const parts = columns.flatMap(({ name, title }) => {
    const since = tested.filter(({ from }) => from === name);
    const moved = since.filter((one) => one.moved).length;
    return since.length === 0
      ? []
      : [`${moved === 0 ? "none" : moved} of ${since.length} since ${versionIn(title)}`];
  });
  return parts.length === 0 ? null : `Moved by more than noise (≠) in ${newest}: ${parts.join(", ")}.`;
}

/**
 * Writes or updates every such table below `root`, first with what is known and then with what had to be fetched.
 * @param {Element} root
 * @param {import("../data/data-on-show.js").DataOnShow} data   the data on show; its claims fill in for data sets that are
 *   not here
 */
export function writeReleases(root, data) {
  for (const place of root.querySelectorAll("[data-releases]")) {
    const names = place.dataset.releases.split(/\s+/).filter(Boolean);
    const ids = place.dataset.releaseClaims.split(/\s+/).filter(Boolean);
    const own = { name: data.dataSet, claims: data.claims, manifest: data.manifestOf(data.dataSet) };
    const show = (others) => {
      const sets = names.map((name, at) => ({ name, ...others[at] }));
      // Until the releases are measured, what is on show says where it stands.
      const all = sets.some(({ claims }) => claims !== null) ? sets : [own, ...sets];
      renewChildren(place, [describeCells(tableOf(releaseRows(ids, all), place.ownerDocument))]);
    };
    makeScrollable(place, "Claims by release");
    if (place.childElementCount === 0) show(names.map(() => ({ claims: null, manifest: null })));
    Promise.all(names.map((name) => data.other(name))).then(show);
  }
}

function tableOf({ columns, newest, rows }, page) {
  const make = (...given) => element(page, ...given);
  const head = make("tr", {}, make("th", { scope: "col" }, "Claim"));
  for (const { name, title, here } of columns)
    head.append(
      make(
        "th",
        { scope: "col", "data-title": here ? title : `${title}, ${NOT_HERE}` },
        title,
        here ? null : make("small", {}, ` ${NOT_HERE}`),
        here && title !== name ? make("small", {}, name) : null,
      ),
    );
  if (newest !== null) head.append(make("th", { scope: "col" }, `${newest} ÷ older`));
  const titles = new Map(columns.map(({ name, title }) => [name, title]));
  const lines = rows.map(({ sentence, cells, moves }) => {
    const among = cells.flatMap((cell) =>
      cell?.condition && !isCount(cell.condition) ? [cell.condition] : [],
    );
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, unbroken(sentence)),
      ...cells.map((cell) => cellOf(cell, among, page)),
      newest === null ? null : movesCell(moves, titles, page),
    );
  });
  const said = movedSentence({ columns, newest, rows });
  return make(
    "table",
    { class: "claims releases" },
    said && make("caption", {}, said),
    make("thead", {}, head),
    make("tbody", {}, ...lines),
  );
}

function cellOf(cell, among, page) {
  const make = (...given) => element(page, ...given);
  if (cell === null) return make("td", { class: "absent" }, "–");
  const { condition, verdict } = cell;
  const plot =
    condition && !isCount(condition) ? drawForestPlot(condition, page, { width: PLOT_WIDTH, among }) : null;
  const found = condition && shortEstimate(condition);
  return make(
    "td",
    {},
    plot,
    make(
      "span",
      { class: `verdict ${verdict.replaceAll(" ", "-")}` },
      make("span", { "aria-hidden": "true" }, `${VERDICT_SIGNS[verdict] ?? ""} `),
      plot && found ? `${found} ` : null,
      make("span", { class: plot ? "visually-hidden" : null }, verdict),
    ),
  );
}

/** By what factor it moved since each older release, with the interval of that, and whether by more than noise. */
function movesCell(moves, titles, page) {
  const make = (...given) => element(page, ...given);
  if (moves.length === 0) return make("td", { class: "absent" }, "–");
  const lines = moves.map(({ from, ratio, low, high, moved, missing }) => {
    const [sign, word] = MOVED.get(moved);
    const interval = moved === null ? null : `(${numberOf(low)} to ${numberOf(high)})`;
    return make(
      "div",
      { class: moved ? "moved" : null },
      `÷ ${versionIn(titles.get(from))} `,
      make("span", { "aria-hidden": "true" }, `${sign} `),
      make("span", { class: "visually-hidden" }, `${word}, `),
      ratio === null ? missing : formatRatio(ratio),
      interval && make("small", {}, ` ${interval}`),
    );
  });
  return make("td", { class: "moves" }, ...lines);
}

/** A ratio with two digits beside one that has the sign. */
function numberOf(ratio) {
  return formatRatio(ratio).replace("×", "");
}

function versionIn(title) {
  return title.replace(/^Ceph /, "");
}
