/**
 * The published site: the bundle, slides and data, weighed, and with what others show of it: description and picture.
 * `npm run build` and `npm run freeze` both make it here.
 */

import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { repositoryAddress, siteAddress } from "./addresses.js";
import { alterationLines, requireUnaltered } from "./alterations.js";
import { budgetTable, overBudget, weigh } from "./budget.js";
import { lookProblems } from "./check/look.js";
import { benchmarksRoot, scanBenchmarks, talkRoot, toPublish } from "./data-sets.js";
import { writeEmbedPages } from "./embed.js";
import { MATRIX, writeMatrix } from "./matrix.js";
import { PREVIEW, SiteDoesNotStart, photographSlide, slideOfPicture } from "./preview.js";
import { withSocialTags } from "./social.js";
import { readTalks } from "./talk-file.js";
import { talkPageFile } from "./talk-page.js";
import { answerOf } from "./text/answer.js";
import { readDataSet, wordsOf } from "./text/data-set-words.js";
import { renderChapters } from "./text/rendered.js";
import { openTalk } from "./text/talk.js";
import { deckConfig } from "./vite-config.js";

/**
 * Builds a site; what was in its folder is replaced. `replaceFolder` has it made beside its place.
 * @param {object} wanted
 * @param {string} wanted.outDir   absolute
 * @param {string} [wanted.benchmarks]   folder of data sets
 * @param {string[]|null} [wanted.dataSets]   which to publish; null for all but the private ones
 * @param {{name: string, chapters: Map<string, string>}|null} [wanted.frozen]   the data set that it is pinned to, and
 *   the Markdown of its chapters by file
 * @param {boolean} [wanted.addressed]   whether readers must be told where they can clone the talk
 * @param {boolean} [wanted.altered]   whether altered data may be published; each slide that shows them then says so
 * @param {boolean} [wanted.preview]   whether to make the picture
 * @param {(step: string) => void} [wanted.say]   called with each step as it begins
 * @returns {Promise<{published: string[], sizes: string[], tooHeavy: string[], remarks: string[]}>}
 *   sizes: a table; tooHeavy: what is over its budget; remarks: what a publisher should know
 * @throws {Error} when data are altered, and that is not allowed; when a data set is wanted by name that has nothing to show
 *   yet; when a slide would run or load something; when nobody said where readers can clone the talk; when a talk's look is
 *   not whole
 * @throws {import("./checked-yaml.js").InvalidFile} when the talk wants the picture of a slide that it does not have
 * @throws {SiteDoesNotStart} when it was built, and does not start in the browser that took the picture
 */
export async function buildSite({
  outDir,
  benchmarks = benchmarksRoot(),
  dataSets = null,
  frozen = null,
  addressed = true,
  altered: allowed = false,
  preview = true,
  say = () => {},
}) {
  const talk = await openTalk(talkRoot());
  if (addressed) requireRepository(talk.stated);
  const talks = frozen ? [talk.stated] : readTalks(talkRoot());
  requireLooks(talks);
  const pictured = slideOfPicture(talk.stated, talk.chapters);
  say("Comparing the data with what was recorded");
  const { published, waiting } = toPublish((await scanBenchmarks(benchmarks)).files, dataSets);
  const altered = await requireUnaltered(benchmarks, published, { allowed });
  say("Rendering the slides");
  const slides = frozen
    ? await renderChapters(frozen.chapters, { readerPage: talk.stated.readerPage })
    : await renderTalks(talks, talk);
  say("Bundling the deck, copying slides and data");
  const { build } = await import("vite");
  const site = { slides, dataSets: published, frozen: frozen?.name ?? null, altered };
  const config = deckConfig({ outDir, benchmarks, site });
  const { output } = await build({ ...config, configFile: false, logLevel: "warn" });
  say("Weighing the site");
  const parts = await weigh(output, outDir);
  const usual = frozen?.name ?? talk.stated.dataSet;
  const shown = published.includes(usual) ? usual : (published[0] ?? null);
  const remarks = [
    ...remarksOn({ usual, published }),
    ...waiting.map((name) => `“${name}” is not published: nothing is derived from it yet.`),
    ...alterationLines(altered).map((line) => `ALTERED, and shown as such: ${line}`),
  ];
  if (preview) say(`Photographing the slide ${pictured}`);
  const picture = preview
    ? await pictureOf(outDir, { slide: pictured, dataSet: shown === usual ? null : shown, remarks })
    : null;
  if (picture && siteAddress() === "")
    remarks.push(
      "The address of the site is not known, so the page names its picture relative to itself, which not every service understands: set REPLAY_HOMEPAGE, or homepage in package.json.",
    );
  say("Making a page for each chart");
  const pages = talks.map((stated, at) => ({
    stated,
    dataSet: frozen?.name ?? stated.dataSet,
    page: at === 0 ? "index.html" : talkPageFile(stated.name),
  }));
  remarks.push(...(await writeEmbedPages({ outDir, talks: pages, slides })));
  say("Writing the page of claims by data set");
  // Its links would ask for other data sets, which a talk that is pinned to one does not show.
  const matrix = frozen
    ? null
    : await writeMatrix({ outDir, root: talkRoot(), benchmarks, published, altered, stated: talk.stated });
  if (matrix) remarks.push(`${MATRIX}: ${matrix.claims} claims by ${matrix.columns} data sets.`);
  const page = path.join(outDir, "index.html");
  const html = withSocialTags(withMatrix(await readFile(page, "utf8"), matrix), {
    sentence: await sentenceOf(talk, benchmarks, shown),
    address: siteAddress(),
    picture,
  });
  await writeFile(page, html);
  return { published, sizes: budgetTable(parts), tooHeavy: overBudget(parts), remarks };
}

/** The slides of talks as HTML, by file. */
async function renderTalks(talks, first) {
  const slides = new Map();
  for (const { name } of talks) {
    const { stated, chapters } = name === first.stated.name ? first : await openTalk(talkRoot(), name);
    const texts = new Map(chapters.map(({ file, text }) => [file, text]));
    for (const [file, html] of await renderChapters(texts, { readerPage: stated.readerPage }))
      slides.set(file, html);
  }
  return slides;
}

/**
 * A published talk tells its readers where its data and its program are.
 * @param {import("./talk-file.js").TalkFile} stated
 * @param {Record<string, string|undefined>} [environment]
 * @throws {Error} naming the line to fill in
 */
export function requireRepository(stated, environment = process.env) {
  if (repositoryAddress(stated, environment) !== "") return;
  throw new Error(
    `${stated.file}:${stated.lineOf("repository")}: repository is empty, and readers need to know where they can get the talk and its data. Write there the web address at which people clone it, such as repository: https://example.org/me/talk. Or build with --no-address: then no line and no QR code names one.`,
  );
}

/** A look that is not whole is not published: a page would be without its font or its logo. */
function requireLooks(talks) {
  const problems = talks.flatMap(({ name }) => lookProblems(talkRoot(), name));
  if (problems.length === 0) return;
  throw new Error(problems.map(({ file, line, message }) => `${file}:${line}: ${message}`).join("\n"));
}

/** The page, told that there is a page of claims, so that its contents link to it. */
function withMatrix(html, matrix) {
  return matrix === null
    ? html
    : html.replace("</head>", `<meta name="replay:matrix" content="${MATRIX}" />\n</head>`);
}

function remarksOn({ usual, published }) {
  if (published.includes(usual)) return [];
  const [other] = published;
  const way = other
    ? `; open the site with ?data=${other}, or pin the talk to it: npm run freeze -- --data ${other}`
    : "";
  return [`The slides show “${usual}”, which is not published${way}.`];
}

/** Takes the picture and puts it among the site's files; null, and a remark, where no browser can be started. */
async function pictureOf(outDir, { slide, dataSet, remarks }) {
  let photograph;
  try {
    photograph = await photographSlide(outDir, { slide, dataSet });
  } catch (error) {
    if (error instanceof SiteDoesNotStart) throw error;
    remarks.push(`The site has no social preview picture: ${error.message.split("\n", 1)[0]}`);
    return null;
  }
  const { png, alt } = photograph;
  const digest = createHash("sha256").update(png).digest("base64url").slice(0, 8);
  // A name of its own for each picture: services keep what they fetched from an address.
  const file = `assets/preview-${digest}.png`;
  await mkdir(path.join(outDir, "assets"), { recursive: true });
  await writeFile(path.join(outDir, file), png);
  return { file, alt, ...PREVIEW };
}

async function sentenceOf({ stated, slides }, benchmarks, name) {
  if (name === null) return null;
  const data = await readDataSet(benchmarks, name);
  // Without verdicts there is no answer to give.
  if (data.claims === null) return null;
  return answerOf(slides, wordsOf(data, { shipped: name === stated.dataSet }));
}
