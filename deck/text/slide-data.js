/**
 * Which slides are of which data set: `<!-- .slide: data-set="stretch" … -->` has a slide show another one than the talk's own,
 * its texts as well as its charts.
 */

/** The data set that the slide around an element names, or null. */
export function namedDataSet(element) {
  return element.closest?.("section[data-set]")?.getAttribute("data-set") ?? null;
}

/** The slides at and below `root`: sections that hold no others. */
export function slidesIn(root) {
  const sections = [...root.querySelectorAll("section")];
  if (root.matches?.("section")) sections.unshift(root);
  return sections.filter((section) => !section.querySelector("section"));
}

/**
 * The parts of a page whose texts come from one data set each.
 * @returns {{part: Element, named: string|null}[]} the page as a whole where no slide names a data set
 */
export function partsByDataSet(root) {
  if (root.querySelector("section[data-set]") === null) return [{ part: root, named: null }];
  return slidesIn(root).map((part) => ({ part, named: namedDataSet(part) }));
}
