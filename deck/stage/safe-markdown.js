/**
 * reveal's Markdown plugin, with its output cleaned before it enters the page: slides are text, drawings and charts, and run
 * nothing. The page's policy also forbids scripts; this module removes and reports them.
 *
 * Two places need it. Markdown lets HTML through, which DOMPurify cleans. And `<!-- .slide: … -->` sets attributes of
 * elements that are already in the page, which are checked afterwards.
 */

import DOMPurify from "dompurify";
import RevealMarkdown from "reveal.js/plugin/markdown";

import { FRAME_ATTRIBUTES, REFUSED_ELEMENTS } from "../text/refused.js";

const RULES = {
  // Comments carry the attributes of slides and the options of charts.
  ADD_TAGS: ["#comment"],
  // … and one at the very beginning would be dropped without this.
  FORCE_BODY: true,
  FORBID_TAGS: REFUSED_ELEMENTS,
};

/**
 * @param {(refused: string[]) => void} onRefused   called with the parts that were removed from the slides, if any
 * @returns {object} list it among reveal's plugins, first
 */
export function SafeMarkdown(onRefused = () => {}) {
  return {
    id: "markdown",
    async init(deck) {
      const refused = [];
      // Once: if the rules came with each text, they would be read again each time, which takes longer than cleaning it.
      DOMPurify.setConfig(RULES);
      const root = deck.getRevealElement();
      const clean = (html) => {
        const cleaned = DOMPurify.sanitize(html);
        refused.push(...DOMPurify.removed.map(inWords).filter(Boolean));
        return cleaned;
      };
      await RevealMarkdown().init({
        getRevealElement: () => root,
        getConfig: () => ({ markdown: { hooks: { postprocess: clean } } }),
      });
      refused.push(...cleanAttributes(root));
      if (refused.length) onRefused([...new Set(refused)]);
    },
  };
}

/** Removes every attribute below `root` that runs or loads something; returns which. */
function cleanAttributes(root) {
  const refused = [];
  for (const element of root.querySelectorAll("section, section *")) {
    for (const { name, value } of [...element.attributes]) {
      if (!isRefused(element.localName, name, value)) continue;
      element.removeAttribute(name);
      refused.push(attributeInWords(name, element));
    }
  }
  return refused;
}

function isRefused(tag, name, value) {
  if (FRAME_ATTRIBUTES.includes(name)) return true;
  // Ids are the names of slides and may be any word; other attributes must be known.
  return name !== "id" && !DOMPurify.isValidAttribute(tag, name, value);
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
