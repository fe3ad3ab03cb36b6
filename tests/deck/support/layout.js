/** Runs in the page: what of a slide lies outside the stage, is cut off, or is too small. */
export function layoutProblems(id) {
  const slide = document.getElementById(id);
  const stage = slide.closest(".slides").getBoundingClientRect();
  const scale = window.replay.deck.getScale();
  const found = [];
  if (slide.scrollHeight > 720) found.push(`${id}: the slide is ${slide.scrollHeight} px high`);
  for (const element of slide.querySelectorAll("*")) {
    if (element.closest("aside.notes") || element.tagName === "title") continue;
    // What another verdict would say is not on the slide.
    if (element.getClientRects().length === 0) continue;
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const box = element.getBoundingClientRect();
    if (!own && element.tagName !== "CANVAS") continue;
    const name = `${id}: <${element.tagName.toLowerCase()}> “${element.textContent.trim().slice(0, 30)}”`;
    const edges = [
      stage.left - box.left,
      stage.top - box.top,
      box.right - stage.right,
      box.bottom - stage.bottom,
    ];
    if (Math.max(...edges) > 1)
      found.push(`${name} leaves the stage by ${Math.round(Math.max(...edges))} px`);
    const size = element.ownerSVGElement
      ? parseFloat(getComputedStyle(element).fontSize) * (element.getScreenCTM().a / scale)
      : parseFloat(getComputedStyle(element).fontSize);
    if (own && size < 19.95) found.push(`${name} has ${size.toFixed(1)} px`);
  }
  return found;
}

/** Runs in the page: titles without text, and groups of texts of which not exactly one is chosen. */
export function groupProblems(id) {
  const slide = document.getElementById(id);
  const found = [...slide.querySelectorAll("h1, h2")]
    .filter((heading) => heading.innerText.trim() === "")
    .map(() => `${id}: the title is empty`);
  const claimOf = (element) => element?.dataset?.when?.split(/\s+/)[0];
  for (const first of slide.querySelectorAll("[data-when]")) {
    const claim = claimOf(first);
    if (claimOf(first.previousElementSibling) === claim) continue;
    const group = [first];
    while (claimOf(group.at(-1).nextElementSibling) === claim) group.push(group.at(-1).nextElementSibling);
    const chosen = group.filter((element) => !element.hasAttribute("hidden"));
    if (chosen.length !== 1) found.push(`${id}: ${chosen.length} texts for ${claim}: “${first.textContent}”`);
  }
  return found;
}
