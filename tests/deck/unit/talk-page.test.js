/** What slides/talk/talk.yaml says of a talk is what its page says. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { factsOf } from "../../../deck/text/talk-facts.js";
import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { toPublish } from "../../../scripts/deck/data-sets.js";
import { requireRepository } from "../../../scripts/deck/site.js";
import { readTalkFile } from "../../../scripts/deck/talk-file.js";
import { talkForPage, talkPage } from "../../../scripts/deck/talk-page.js";

const shell = await readFile(path.join(PROJECT, "index.html"), "utf8");
const talk = {
  ...readTalkFile(PROJECT),
  title: 'Is "fast" < cheap?',
  description: "On A & B.",
  dataSet: "mine",
  otherDataSets: ["old"],
  chapters: ["slides/talk/b.md", "slides/talk/a.md"],
  readerPage: "slides/r.md",
  accent: { light: "#112233", dark: "#ddeeff", inverse: "#aabbcc" },
};
const addresses = { repository: "https://a.example/t", address: "https://b.example", version: "1.2.3" };
const others = [{ name: "second", title: "Why?", page: "talk-second.html" }];
const told = talkForPage(talk, addresses, others);
const filesIn = (html) => [...html.matchAll(/data-markdown="([^"]*)"/g)].map(([, file]) => file);

test("the page has the talk's title, description, data set, chapters and colour", () => {
  const page = talkPage(shell, talk, told);
  assert.match(page, /<title>Is &quot;fast&quot; &lt; cheap\?<\/title>/);
  assert.match(page, /<meta name="description" content="On A &amp; B\." \/>/);
  assert.match(page, /<meta name="replay:data-set" content="mine" \/>/);
  assert.match(
    page,
    /--accent: light-dark\(#112233, #ddeeff\); --accent-inverse: light-dark\(#aabbcc, #ddeeff\)/,
  );
  const [, json] = /<script type="application\/json" id="talk">(.*)<\/script>/.exec(page);
  assert.ok(!json.includes("<"), "a title may not end the element");
  assert.deepEqual(JSON.parse(json), told);
  const [slides, reader] = page.split('<template id="front-page">');
  assert.deepEqual([filesIn(slides), filesIn(reader)], [talk.chapters, ["slides/r.md"]]);
});

test("a talk without a page for readers has none, and the deck knows", () => {
  const plain = { ...talk, readerPage: null };
  assert.doesNotMatch(talkPage(shell, plain, told), /<template/);
  const { readerPage, cuts, repository, address, version } = talkForPage(plain, addresses);
  assert.deepEqual([readerPage, cuts], [false, [30, 20]]);
  assert.deepEqual({ repository, address, version }, addresses);
  assert.equal(talkForPage(talk, addresses).readerPage, true);
});

test("a page that lacks a place for the talk is refused", () => {
  assert.throws(() => talkPage("<html></html>", talk, told), /does not have <!-- talk: title/);
});

test("slides show of the talk what is stated, and nothing for what is not", () => {
  const stated = {
    speaker: "A. Speaker",
    event: "",
    repository: "https://example.org/a/talk/",
    contact: "a@b.example",
  };
  assert.deepEqual(factsOf("speaker event date repository", stated), [
    { name: "speaker", text: "A. Speaker", href: null },
    { name: "repository", text: "example.org/a/talk", href: "https://example.org/a/talk/" },
  ]);
  assert.deepEqual(factsOf("contact", stated), [
    { name: "contact", text: "a@b.example", href: "mailto:a@b.example" },
  ]);
  assert.deepEqual(factsOf("event constructor", stated), []);
});

test("a talk is not published without an address for its readers to clone", () => {
  const repository = "https://example.org/me/talk";
  const unstated = { ...readTalkFile(PROJECT), repository: "" };
  requireRepository({ ...unstated, repository }, {});
  requireRepository(unstated, { REPLAY_REPOSITORY: repository });
  assert.throws(
    () => requireRepository(unstated, {}),
    (error) => {
      const line = unstated.lineOf("repository");
      assert.ok(error.message.startsWith(`slides/rpo/talk.yaml:${line}: repository is empty`), error.message);
      return true;
    },
  );
});

test("a site holds the data sets that are derived, and its builder hears of those that wait to be", () => {
  const names = [
    ...["local/manifest.json", "local-18/manifest.json"],
    ...["begun/campaign.json", "ours/manifest.json", "ours/campaign.json"],
  ];
  const files = new Map(names.map((name) => [name, ""]));
  assert.deepEqual(toPublish(files, null), { published: ["ours"], waiting: ["begun"] });
  assert.deepEqual(toPublish(files, ["local"]), { published: ["local"], waiting: [] });
  assert.deepEqual(toPublish(files, ["absent"]), { published: [], waiting: [] });
  assert.throws(() => toPublish(files, ["begun"]), /nothing is derived from “begun” yet/);
  assert.throws(
    () => toPublish(files, ["ours", "begun"]),
    /“begun” yet\. Run: \.\/replay derive --data begun$/,
  );
});
