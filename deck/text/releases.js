/**
 * The same claims in several data sets, side by side: `<div data-releases="headline-16 headline-18" data-release-claims="…">`.
 * A row is a claim, a column a data set, and all plots of a row have one axis, so that what moves from release to release is
 * seen. A data set that is not here keeps its column and says so.
 */

import { VERDICT_SIGNS, decidingCondition, isCount, shortEstimate } from "../data/claims.js";
import { unbroken } from "../data/format.js";
import { element, makeScrollable } from "../page/elements.js";
import { renewChildren } from "../page/in-place.js";
import { drawForestPlot } from "./forest-plot.js";
import { describeCells } from "./stacked-tables.js";

const PLOT_WIDTH = 160;
const NOT_HERE = "not measured here";

/**
 * What the table shows. Pure.
 * @param {string[]} ids   of claims
 * @param {{name: string, claims: object|null, manifest: object|null}[]} sets
 * @returns {{columns: {name: string, title: string, here: boolean}[],
 *            rows: {id: string, sentence: string, cells: ({condition: object|null, verdict: string}|null)[]}[]}}
 *   a cell is null where its data set is not here; rows are of the claims that some data set has
 */
export function releaseRows(ids, sets) {
  const columns = sets.map(({ name, claims, manifest }) => ({
    name,
    title: manifest?.setup?.ceph_version ? `Ceph ${manifest.setup.ceph_version}` : name,
    here: claims !== null,
  }));
  const rows = ids.map((id) => {
    const found = sets.map(({ claims }) => claims?.claims?.[id] ?? null);
    const cells = found.map((claim) =>
      claim === null ? null : { condition: decidingCondition(claim), verdict: claim.verdict },
    );
    return { id, sentence: found.find(Boolean)?.sentence ?? null, cells };
  });
  return { columns, rows: rows.filter(({ sentence }) => sentence !== null) };
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

function tableOf({ columns, rows }, page) {
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
  const lines = rows.map(({ sentence, cells }) => {
    const among = cells.flatMap((cell) =>
      cell?.condition && !isCount(cell.condition) ? [cell.condition] : [],
    );
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, unbroken(sentence)),
      ...cells.map((cell) => cellOf(cell, among, page)),
    );
  });
  return make("table", { class: "claims releases" }, make("thead", {}, head), make("tbody", {}, ...lines));
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
