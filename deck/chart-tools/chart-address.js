/** The address of one chart of a slide. Pure functions. */

/**
 * The address that leads to one chart of a slide.
 * @param {string} here   the page's address
 * @param {string} slide   its id
 * @param {number} number   the chart's, from 1
 */
export function chartLink(here, slide, number) {
  const address = new URL(here);
  address.searchParams.set("chart", String(number));
  address.hash = `/${slide}`;
  return address.href;
}

/** Which chart an address leads to, from 1; null if it names none. */
export function linkedChart(search) {
  const value = new URLSearchParams(search).get("chart");
  return /^[1-9]\d?$/.test(value ?? "") ? Number(value) : null;
}

/** Where a built site has a page of one chart alone; number: from 1, among all charts of the slide. */
export function embedFile(talk, slide, number) {
  return `embed/${talk}.${slide}.${number}.html`;
}
