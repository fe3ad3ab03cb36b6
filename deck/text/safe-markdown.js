/**
 * reveal's Markdown plugin, with its output cleaned before it enters the page: slides are text, drawings and charts, and run
 * nothing. The page's policy also forbids scripts; this module removes and reports them.
 *
 * Two places need it. Markdown lets HTML through, which DOMPurify cleans. And `<!-- .slide: … -->` sets attributes of
 * elements that are already in the page, which are checked afterwards.
 */

import createDOMPurify from "dompurify";
import RevealMarkdown from "reveal.js/plugin/markdown";

import { FRAME_ATTRIBUTES, REFUSED_ELEMENTS } from "./refused.js";

const RULES = {
  // Comments carry the attributes of slides and the options of charts.
  ADD_TAGS: ["#comment"],
  // … and one at the very beginning would be dropped without this.
  FORCE_BODY: true,
  FORBID_TAGS: REFUSED_ELEMENTS,
};

/**
 * Makes slides of the Markdown in the chapter elements below `root`.
 * @param {Element} root
 * @param {Window} [window]   whose document that is; a build has one of its own
 * @returns {Promise<string[]>} the parts that were removed, each kind once
 */
export async function makeSlides(root, window = globalThis.window) {
  const purifier = createDOMPurify(window);
  // Once: if the rules came with each text, they would be read again each time, which takes longer than cleaning it.
  purifier.setConfig(RULES);
  const refused = [];
  const clean = (html) => {
    const cleaned = purifier.sanitize(html);
    refused.push(...purifier.removed.map(inWords).filter(Boolean));
    return cleaned;
  };
  // The only parts of a deck that the plugin needs.
  await RevealMarkdown().init({
    getRevealElement: () => root,
    getConfig: () => ({ markdown: { hooks: { postprocess: clean } } }),
  });
  refused.push(...cleanAttributes(root, purifier));
  return [...new Set(refused)];
}

/** Removes every attribute below `root` that runs or loads something; returns which. */
function cleanAttributes(root, purifier) {
  const refused = [];
  for (const element of root.querySelectorAll("section, section *")) {
    for (const { name, value } of [...element.attributes]) {
      if (!isRefused(element.localName, name, value, purifier)) continue;
      element.removeAttribute(name);
      refused.push(attributeInWords(name, element));
    }
  }
  return refused;
}

function isRefused(tag, name, value, purifier) {
  if (FRAME_ATTRIBUTES.includes(name)) return true;
  // Ids are the names of slides and may be any word; other attributes must be known.
  return name !== "id" && !purifier.isValidAttribute(tag, name, value);
}

function inWords({ element, attribute, from }) {
  if (attribute) return attributeInWords(attribute.name, from);
  const name = element?.nodeName?.toLowerCase() ?? "";
  // The cleaner's own helper element, and the text inside a tag that is already reported.
  if (name === "remove" || name === "#text" || name === "") return null;
  return name === "#comment" ? "a comment with markup in it" : `<${name}>`;
}

function attributeInWords(name, element) {
  return `${name} of <${element?.localName ?? "?"}>`;
}
