/**
 * What a search engine or a messenger shows of the published site: its description, and its picture. Pure.
 *
 * Services want the picture's address in full; a site whose own address is not known names it relative to the page, which
 * some of them understand.
 */

import { escapeHtml, unescapeHtml } from "./text/escape.js";

/**
 * @param {string} html   the built page
 * @param {{sentence: string|null, address: string, picture: {file: string, width: number, height: number,
 *          alt: string}|null}} facts
 *   sentence: the talk's answer, put before the description; address: where the site will be, "" where nobody said;
 *   picture: file relative to the page
 * @returns {string} the page with its description and tags
 * @throws {Error} when the page has no description, or no title
 */
export function withSocialTags(html, { sentence, address, picture }) {
  const title = textOf(/<title>([^<]*)<\/title>/.exec(html), "title");
  const plain = textOf(DESCRIPTION.exec(html), '<meta name="description">');
  const description = [sentence, plain].filter(Boolean).join(" ");
  const home = address === "" ? null : siteRoot(address);
  const tags = [
    property("og:type", "website"),
    property("og:title", title),
    property("og:description", description),
    home && property("og:url", home),
    home && `<link rel="canonical" href="${escapeHtml(home)}" />`,
    named("twitter:card", picture ? "summary_large_image" : "summary"),
    ...(picture ? pictureTags(picture, home) : []),
  ].filter(Boolean);
  return html
    .replace(DESCRIPTION, () => named("description", description))
    .replace("</head>", () => `  ${tags.join("\n    ")}\n  </head>`);
}

const DESCRIPTION = /<meta\s+name="description"\s+content="([^"]*)"\s*\/?>/;

function pictureTags({ file, width, height, alt }, home) {
  return [
    property("og:image", home ? new URL(file, home).href : `./${file}`),
    property("og:image:type", "image/png"),
    property("og:image:width", String(width)),
    property("og:image:height", String(height)),
    property("og:image:alt", alt),
  ];
}

/** An address as that of a folder, so that what lies in it can be named from there. */
function siteRoot(address) {
  const url = new URL(address);
  url.hash = "";
  url.search = "";
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url.href;
}

function textOf(match, what) {
  if (!match || match[1].trim() === "") throw new Error(`index.html has no ${what}`);
  return unescapeHtml(match[1]).replace(/\s+/g, " ").trim();
}

const property = (name, content) => `<meta property="${name}" content="${escapeHtml(content)}" />`;
const named = (name, content) => `<meta name="${name}" content="${escapeHtml(content)}" />`;
