/** A talk's own look: what its pages ask for, what the check says of it, and where its logo stands. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, test } from "node:test";

import { factsOf } from "../../../deck/text/talk-facts.js";
import { LOOK_FONTS } from "../../../scripts/deck/check/look.js";
import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { lookFiles } from "../../../scripts/deck/look.js";
import { matrixPage, rowsOf } from "../../../scripts/deck/matrix.js";
import { readTalkFile } from "../../../scripts/deck/talk-file.js";
import { talkForPage, talkPage } from "../../../scripts/deck/talk-page.js";
import { GOOD, claimsWith, makeTalk } from "../support/talk.js";

const FOLDER = "slides/talk/look";
const TOKENS = `@font-face {
  font-family: "Acme";
  src: url("acme.woff2") format("woff2");
}

:root {
  --font: "Acme", sans-serif;
  --brand: #10243e;
  --ink: light-dark(var(--brand), #eef3fa);
}
`;
const logo = (title) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 4">${title}<path d="M0 0h9v4z"/></svg>`;
const LOGO = {
  light: `./${FOLDER}/logo-light.svg`,
  dark: `./${FOLDER}/logo-dark.svg`,
  title: "Acme & Sons",
};

let talk;
const save = (name, text) => talk.save(`${FOLDER}/${name}`, text);
const told = () => talk.problemsOf(GOOD);

beforeEach(async (t) => {
  talk = await makeTalk(t);
  await save("tokens.css", TOKENS);
  await save("acme.woff2", "a font");
  await save("logo-light.svg", logo("<title>Acme &amp; Sons</title>"));
  await save("logo-dark.svg", logo("<title>Acme &amp; Sons</title>"));
  await save("OFL.txt", "a licence");
});

test("a page has the talk's styles last, and its code knows the logo", async () => {
  const stated = readTalkFile(talk.root, "talk");
  assert.deepEqual(stated.look, { style: `./${FOLDER}/tokens.css`, logo: LOGO });
  const told = talkForPage(stated, { repository: "", address: "" });
  assert.deepEqual(told.logo, LOGO);
  const shell = await readFile(path.join(PROJECT, "index.html"), "utf8");
  const sheets = [...talkPage(shell, stated, told).matchAll(/<link rel="stylesheet" href="([^"]*)"/g)];
  assert.deepEqual(
    sheets.map(([, href]) => href),
    ["./css/deck.css", `./${FOLDER}/tokens.css`],
  );
  assert.deepEqual(
    lookFiles(talk.root, "talk"),
    ["acme.woff2", "logo-dark.svg", "logo-light.svg", "tokens.css"].map((name) => `${FOLDER}/${name}`),
  );
});

test("a talk without a look has no such styles and no logo", async () => {
  await talk.save(
    "slides/plain/talk.yaml",
    await readFile(path.join(talk.root, "slides/talk/talk.yaml"), "utf8"),
  );
  const stated = readTalkFile(talk.root, "plain");
  assert.deepEqual(stated.look, { style: null, logo: null });
  const shell = await readFile(path.join(PROJECT, "index.html"), "utf8");
  const page = talkPage(shell, stated, talkForPage(stated, { repository: "", address: "" }));
  assert.equal(page.match(/rel="stylesheet"/g).length, 1);
});

test("a slide shows the logo among the facts of the talk, if there is one", () => {
  assert.deepEqual(factsOf("logo speaker", { speaker: "A. Speaker", logo: LOGO }), [
    { name: "logo", logo: LOGO },
    { name: "speaker", text: "A. Speaker", href: null },
  ]);
  assert.deepEqual(factsOf("logo", { speaker: "A. Speaker", logo: null }), []);
});

test("the page of claims by data set has the look, too", () => {
  const { look } = readTalkFile(talk.root, "talk");
  const column = { name: "ours", href: "./", manifest: null, claims: claimsWith({ small: {} }) };
  const stated = { title: "A talk", accent: { light: "#111111", dark: "#eeeeee" }, look };
  const html = matrixPage({
    talk: stated,
    columns: [column],
    rows: rowsOf(column, [column], null),
    styles: [],
  });
  assert.ok(html.indexOf(`href="./${FOLDER}/tokens.css"`) > html.indexOf("</style>"));
  assert.match(html, /srcset="[^"]*logo-dark\.svg"><img src="[^"]*logo-light\.svg" alt="Acme &amp; Sons">/);
});

test("a look that is whole is no problem, also with a licence beside it and tokens of its own", async () => {
  assert.deepEqual(await told(), []);
});

test("the check names what is unused, missing, misspelt, or elsewhere, with its line", async () => {
  const only = async () => {
    const problems = await told();
    assert.equal(problems.length, 1, problems.join("\n"));
    return problems[0];
  };
  await save("tokens.css", TOKENS.replace("--ink:", "--inc:"));
  assert.equal(await only(), `${FOLDER}/tokens.css:9: there is no token --inc; did you mean --ink?`);
  await save("tokens.css", TOKENS.replace('url("acme', 'url("https://fonts.example/acme'));
  const [unused, elsewhere, ...rest] = await told();
  assert.match(unused, /acme\.woff2:1: is not used: tokens\.css does not name it$/);
  assert.match(elsewhere, /tokens\.css:3: "https:\/\/fonts\.example\/acme\.woff2" is no file of this folder/);
  assert.deepEqual(rest, []);
  await save("tokens.css", `/* url("old.woff2") --old: 1 */\n${TOKENS}`);
  assert.deepEqual(await told(), [], "what a comment says is not used");
  await save("tokens.css", `${TOKENS}p::after { content: "of 15"; }\n`);
  assert.match(await only(), /tokens\.css:11: content adds "of 15" to a slide/);
  await save("tokens.css", TOKENS);
  await save("logo.svg", logo(""));
  assert.match(await only(), /logo\.svg:1: is not used: .*; a logo is logo-light\.svg and logo-dark\.svg/);
});

test("a logo is for light and for dark pages, and says whose it is", async () => {
  await save("logo-dark.svg", logo(""));
  assert.match((await told())[0], /logo-dark\.svg:1: has no <title>/);
  await talk.save(
    "slides/half/talk.yaml",
    await readFile(path.join(talk.root, "slides/talk/talk.yaml"), "utf8"),
  );
  await talk.save("slides/half/look/logo-light.svg", logo("<title>Half</title>"));
  assert.equal(readTalkFile(talk.root, "half").look.logo, null);
});

test("the fonts of a look have a size limit of their own, which the check knows before anything is built", async () => {
  await save("acme.woff2", "a".repeat(LOOK_FONTS));
  assert.deepEqual(await told(), []);
  await save("acme.woff2", "a".repeat(LOOK_FONTS + 1024));
  assert.match(
    (await told())[0],
    /acme\.woff2:1: the fonts of this folder have 151\.0 KB, which is more than 150\.0 KB \(acme\.woff2 151\.0 KB\)/,
  );
});
