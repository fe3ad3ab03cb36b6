/**
 * The page of claims by data set: a row for each claim of the talk, a column for each published data set and for each
 * bundle in the talk's folder `bundles/`. A document without a script.
 */

import { createReadStream } from "node:fs";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";

import { readBundle } from "../../deck/data/bundle-file.js";
import { claimRows, hasSameWording } from "../../deck/data/claim-rows.js";
import { VERDICT_SIGNS, estimateText } from "../../deck/data/claims.js";
import { formatPeriod, formatValue, unbroken } from "../../deck/data/format.js";
import { PROJECT, entriesOf } from "./data-sets.js";
import { withLook } from "./talk-page.js";
import { readDataSet } from "./text/data-set-words.js";
import { escapeHtml } from "./text/escape.js";

/** The folder of the bundles that a site shows, in the talk and in the site. */
export const BUNDLES = "bundles";
export const MATRIX = "matrix.html";
const END = ".bundle";
const ALTERED = "ALTERED DATA";
const STYLES = ["css/tokens.css", "css/matrix.css"];

/**
 * What one data set says. altered: whether its files are not as recorded
 * @typedef {{name: string, href: string, manifest: object|null, claims: object|null, altered?: boolean}} Column
 */

/**
 * Writes the page into a site, with the bundles beside it, where there is something to compare: a bundle, or two data sets.
 * @param {object} site
 * @param {string} site.outDir   absolute
 * @param {string} site.root   the talk's folder
 * @param {string} site.benchmarks
 * @param {string[]} site.published   names of the data sets of the site
 * @param {Record<string, object[]>} site.altered   files that are not as recorded, by data set
 * @param {import("./talk-file.js").TalkFile} site.stated   the talk
 * @returns {Promise<{claims: number, columns: number}|null>} null where no page was written
 * @throws {Error} naming a bundle that cannot be shown
 */
export async function writeMatrix({ outDir, root, benchmarks, published, altered, stated }) {
  const bundles = await bundlesIn(path.join(root, BUNDLES));
  const own = await Promise.all(
    published.map(async (name) => ({
      ...(await readDataSet(benchmarks, name)),
      href: `./?data=${name}#/`,
      altered: Object.hasOwn(altered, name),
    })),
  );
  const columns = [...own, ...bundles.map(({ column }) => column)].filter(({ claims }) => claims !== null);
  const shipped = columns.find(({ name }) => name === stated.dataSet) ?? columns[0];
  if (columns.length < 2) return null;
  for (const { file, bytes } of bundles) {
    await mkdir(path.join(outDir, BUNDLES), { recursive: true });
    await writeFile(path.join(outDir, BUNDLES, file), bytes);
  }
  const styles = await Promise.all([
    fontFaces(path.join(outDir, "assets")),
    ...STYLES.map((name) => readFile(path.join(PROJECT, name), "utf8")),
  ]);
  const rows = rowsOf(shipped, columns, stated.claims);
  await writeFile(path.join(outDir, MATRIX), matrixPage({ talk: stated, columns, rows, styles }));
  return { claims: rows.length, columns: columns.length };
}

/** The site's own rules for its fonts, as a page beside the folder of its style sheets needs them. */
async function fontFaces(assets) {
  const sheets = (await readdir(assets)).filter((name) => name.endsWith(".css"));
  const texts = await Promise.all(sheets.map((name) => readFile(path.join(assets, name), "utf8")));
  return texts
    .flatMap((text) => text.match(/@font-face\s*\{[^}]*\}/g) ?? [])
    .map((rule) => rule.replace(/url\((["']?)(?:\.\/)?/g, "url($1./assets/"))
    .join("\n");
}

/** The bundles of a folder, which need not exist, each with its bytes. */
async function bundlesIn(folder) {
  const names = (await entriesOf(folder)).map(({ name }) => name);
  const bundles = [];
  for (const file of names.filter((name) => name.endsWith(END)).sort()) {
    const place = path.join(folder, file);
    let bundle;
    try {
      bundle = await readBundle(Readable.toWeb(createReadStream(place)));
    } catch (error) {
      throw new Error(`${path.join(BUNDLES, file)}: ${error.message} Remove it, or make it again.`, {
        cause: error,
      });
    }
    const documents = ["manifest.json", "claims.json"].map((name) =>
      JSON.parse(bundle.files.get(name) ?? "null"),
    );
    const href = `./?bundle=${encodeURIComponent(`${BUNDLES}/${file}`)}#/`;
    const column = { name: bundle.name, href, manifest: documents[0], claims: documents[1] };
    bundles.push({ file, bytes: await readFile(place), column });
  }
  return bundles;
}

/**
 * The rows: each claim of the talk, in its order, with what each data set says about it. Pure.
 * @param {Column} shipped   whose claims are the talk's
 * @param {Column[]} columns
 * @param {string[]|null} wanted   ids; null for all
 */
export function rowsOf(shipped, columns, wanted) {
  return claimRows(shipped.claims, wanted ?? []).map(({ id, sentence, kind }) => ({
    ...{ id, sentence, kind },
    cells: columns.map(({ claims, manifest }) => {
      const [row] = claimRows(claims, [id], manifest);
      return row ? { ...row, same: hasSameWording(shipped.claims.claims[id], claims.claims[id]) } : null;
    }),
  }));
}

/** The page as HTML. Pure. */
export function matrixPage({ talk, columns, rows, styles }) {
  const accent = `:root { --accent: light-dark(${talk.accent.light}, ${talk.accent.dark}); }`;
  const title = `Does it still hold? ${talk.title}`;
  const titles = columns.map((column) => titleOf(column, columns));
  const marked = columns.map((column, at) => (isAltered(column) ? `${ALTERED} · ${titles[at]}` : titles[at]));
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style>
${[accent, ...styles].join("\n")}</style>
</head>
<body>
<header>
<nav aria-label="The talk"><a href="./"><span aria-hidden="true">← </span>Back to the talk: ${escapeHtml(talk.title)}</a></nav>
</header>
<main>
${logoOf(talk.look.logo)}<h1>Does it still hold?</h1>
<p>What each data set says about each claim of the talk. <a href="#data-sets">The data sets</a></p>
<div class="scrolling" tabindex="0" role="region" aria-label="Claims by data set">
<table role="table">
<thead role="rowgroup">
<tr role="row"><th scope="col" role="columnheader">Claim</th>${columns.map((column, at) => columnHead(column, marked[at])).join("")}</tr>
</thead>
<tbody role="rowgroup">
${rows.map((row) => rowHtml(row, marked)).join("\n")}
</tbody>
</table>
</div>
<p>† exploratory: the claim was written or changed after these data were known. ‡ judged under another wording of the claim than this talk's.</p>
<h2 id="data-sets">The data sets</h2>
<p>A name opens the talk with its numbers.</p>
<ul>
${columns.map((column, at) => dataSetHtml(column, titles[at])).join("\n")}
</ul>
</main>
</body>
</html>
`;
  return withLook(page, talk.look.style);
}

function logoOf(logo) {
  if (logo === null) return "";
  const [light, dark, title] = [logo.light, logo.dark, logo.title].map(escapeHtml);
  return `<picture class="logo"><source media="(prefers-color-scheme: dark)" srcset="${dark}"><img src="${light}" alt="${title}"></picture>\n`;
}

/** Whether the verdicts of a column may be edited, as a slide with them would say. */
function isAltered({ altered, manifest }) {
  return Boolean(altered || manifest?.altered);
}

/** What a data set is called: its label, or its name where several have that label. */
function titleOf({ name, manifest }, columns) {
  const label = manifest?.label ?? null;
  const isShared = columns.filter((column) => column.manifest?.label === label).length > 1;
  return String(label === null || isShared ? name : label);
}

function releaseOf({ manifest }) {
  const { ceph_release: release, tool_versions: versions } = manifest?.setup ?? {};
  return release ? `Ceph ${release}` : versions;
}

function columnHead(column, title) {
  const release = releaseOf(column);
  const below = release ? `<small>${escapeHtml(unbroken(String(release)))}</small>` : "";
  return `<th scope="col" role="columnheader">${escapeHtml(title)}${below}</th>`;
}

function dataSetHtml(column, title) {
  const { name, href, manifest } = column;
  const { setup = {}, label, measured_from: from, measured_to: to } = manifest ?? {};
  const facts = [
    isAltered(column) ? ALTERED : null,
    ...[name, label].filter((text) => text !== title),
    releaseOf(column),
    setup.cpu,
    setup.cores ? `${setup.cores} cores` : null,
    formatValue(setup.memory_bytes, "memory_bytes"),
    setup.osds ? `${setup.osds} OSDs` : null,
    from || to ? formatPeriod(from ?? to, to ?? from) : null,
  ];
  const words = facts.filter(Boolean).map((fact) => escapeHtml(unbroken(String(fact))));
  return `<li><a href="${escapeHtml(href)}">${escapeHtml(title)}</a> <small>${words.join(" · ")}</small></li>`;
}

function rowHtml({ id, sentence, kind, cells }, titles) {
  const check = kind === "setup_check" ? "<small>a check of the set-up</small>" : "";
  return `<tr id="${escapeHtml(id)}" role="row"><th scope="row" role="rowheader">${escapeHtml(unbroken(sentence))}${check}</th>${cells.map((row, at) => cellHtml(row, titles[at])).join("")}</tr>`;
}

function cellHtml(row, title) {
  const cell = (content, reason = "") =>
    `<td role="cell" data-title="${escapeHtml(title)}"${reason && ` title="${escapeHtml(reason)}"`}>${content}</td>`;
  const sign = VERDICT_SIGNS[row?.verdict];
  // A bundle comes from a stranger: a word that is none of the verdicts is no verdict.
  if (sign === undefined) return cell('<span class="verdict not-measured">not judged</span>');
  const { verdict, condition, reason, exploratory, same } = row;
  const marks = `${exploratory ? " †" : ""}${same ? "" : " ‡"}`;
  const n = Number.isInteger(condition?.n) && condition.n > 0 ? `, n = ${condition.n}` : "";
  const estimate = condition && estimateText(condition);
  const figure = estimate ? `<small>${escapeHtml(unbroken(estimate + n))}</small>` : "";
  const badge = `<span class="verdict ${verdict.replaceAll(" ", "-")}">${sign} ${verdict}${marks}</span>`;
  return cell(`${badge}${figure}`, String(reason ?? ""));
}
