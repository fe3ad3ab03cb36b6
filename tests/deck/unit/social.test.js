import assert from "node:assert/strict";
import { test } from "node:test";

import { slidesOf } from "../../../scripts/deck/check/chapters.js";
import { slideOfPicture } from "../../../scripts/deck/preview.js";
import { withSocialTags } from "../../../scripts/deck/social.js";
import { answerOf } from "../../../scripts/deck/text/answer.js";
import { wordsOf } from "../../../scripts/deck/text/data-set-words.js";
import { readSlide } from "../../../scripts/deck/text/segments.js";
import { MANIFEST, claimsWith } from "../support/talk.js";

const PAGE = `<html><head>
    <title>What does it cost?</title>
    <meta
      name="description"
      content="A talk about &quot;A &amp; B&quot;."
    />
  </head><body></body></html>`;
const PICTURE = { file: "assets/preview-abc.png", width: 1200, height: 630, alt: 'Chart: "A"' };

/** The content of a tag of the page, by its name or property. */
function content(html, name) {
  return new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)" />`).exec(html)?.[1] ?? null;
}

test("the page states its answer, then its subject, once for all services", () => {
  const html = withSocialTags(PAGE, { sentence: "Twice, <no> less.", address: "", picture: null });
  const said = "Twice, &lt;no&gt; less. A talk about &quot;A &amp; B&quot;.";
  assert.equal(content(html, "description"), said);
  assert.equal(content(html, "og:description"), said);
  assert.equal(content(html, "og:title"), "What does it cost?");
  assert.equal(html.match(/name="description"/g).length, 1);
  assert.equal(content(html, "twitter:card"), "summary");
  assert.equal(content(html, "og:image"), null);
  assert.equal(content(html, "og:url"), null);
});

test("without an answer the description stays as it is", () => {
  const html = withSocialTags(PAGE, { sentence: null, address: "", picture: null });
  assert.equal(content(html, "description"), "A talk about &quot;A &amp; B&quot;.");
});

test("the picture has a full address if the site's address is known, else one relative to the page", () => {
  for (const address of [
    "https://example.org/talk",
    "https://example.org/talk/",
    "https://example.org/talk/?x#y",
  ]) {
    const html = withSocialTags(PAGE, { sentence: null, address, picture: PICTURE });
    assert.equal(content(html, "og:image"), "https://example.org/talk/assets/preview-abc.png");
    assert.equal(content(html, "og:url"), "https://example.org/talk/");
    assert.match(html, /<link rel="canonical" href="https:\/\/example\.org\/talk\/" \/>/);
    assert.equal(content(html, "twitter:card"), "summary_large_image");
    assert.equal(content(html, "og:image:width"), "1200");
    assert.equal(content(html, "og:image:alt"), "Chart: &quot;A&quot;");
  }
  const html = withSocialTags(PAGE, { sentence: null, address: "", picture: PICTURE });
  assert.equal(content(html, "og:image"), "./assets/preview-abc.png");
  assert.doesNotMatch(html, /canonical/);
});

test("special characters of a replacement are text", () => {
  const html = withSocialTags(PAGE, { sentence: "It costs $& and $1.", address: "", picture: null });
  assert.match(content(html, "description"), /^It costs \$&amp; and \$1\. A talk/);
});

test("a page without title or description is refused", () => {
  const facts = { sentence: null, address: "", picture: null };
  assert.throws(() => withSocialTags(PAGE.replace(/<title>.*?<\/title>/, ""), facts), /no title/);
  assert.throws(() => withSocialTags(PAGE.replace('"description"', '"other"'), facts), /description/);
});

const READER = `# Question


<p data-answer><span data-when="small held">It costs <data value="small.ratio">9×</data>, on
<data value="manifest.label">that</data>.</span><span data-when="small refuted">Nothing.</span></p>

<p>More.</p>
`;

/** The answer that a data set gives. */
function answer(text, claims) {
  const slides = slidesOf(text, { file: "a.md" }).map(readSlide);
  return answerOf(slides, wordsOf({ manifest: MANIFEST, claims: claimsWith(claims) }));
}

test("the answer is the marked sentence, with the data's figures and verdict", () => {
  assert.equal(answer(READER, { small: {} }), "It costs 2.1×, on Sandbox.");
  assert.equal(answer(READER, { small: { verdict: "refuted" } }), "Nothing.");
});

test("several texts may be marked, and one of them is chosen", () => {
  const text = `<p data-answer data-when="small held">Held.</p>
<p data-answer data-when="small refuted">Refuted.</p>
`;
  assert.equal(answer(text, { small: {} }), "Held.");
  assert.equal(answer(text, { small: { verdict: "refuted" } }), "Refuted.");
});

test("without a marked text, or if the data leave it empty, there is no answer", () => {
  assert.equal(answer("# Question\n", {}), null);
  assert.equal(answer(READER, {}), null);
});

test("messengers show the slide that the talk names, else its first with a chart, else its first", () => {
  const slides = [
    { id: "reader", front: true, text: "" },
    { id: "opener", front: false, text: "# One" },
    { id: "chart", front: false, text: '<canvas class="wide" data-chart="line"></canvas>' },
  ];
  const stated = { picture: null, file: "slides/talk/talk.yaml", lineOf: () => 7 };
  const chosen = (picture, all = slides) => slideOfPicture({ ...stated, picture }, [{ slides: all }]);
  assert.equal(chosen(null), "chart");
  assert.equal(chosen(null, slides.slice(0, 2)), "opener");
  assert.equal(chosen("opener"), "opener");
  assert.throws(
    () => chosen("reader"),
    /^Error: slides\/talk\/talk\.yaml:7: picture: no slide has the id "reader"/,
  );
});
