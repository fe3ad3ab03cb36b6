/** Visible problems of a slide. These functions run in the page, and return a sentence for each problem. */
/* global document, getComputedStyle, window -- these functions run in the page */

/** Parts of a slide that are outside the stage, cut off, too small, or cover the label of its charts. */
export function layoutProblems(id) {
  const SMALLEST_PX = 20;
  const slide = document.getElementById(id);
  const stage = slide.closest(".slides").getBoundingClientRect();
  const scale = window.replay.deck.getScale();
  const problems = [];
  const nameOf = (element) =>
    `<${element.tagName.toLowerCase()}> “${element.textContent.trim().slice(0, 30)}”`;
  const say = (element, text) => problems.push(`${id}: ${nameOf(element)} ${text}`);
  const ownText = (element) =>
    [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim() !== "");
  /** The boxes of an element's own lines of text, not of the space that it takes. */
  const linesOf = (element) =>
    ownText(element).flatMap((node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return [...range.getClientRects()];
    });

  /** Whether a text is only for screen readers: as usual, it is in a box of one pixel. */
  const isHeardOnly = (element) => {
    for (let box = element; box !== slide; box = box.parentElement) {
      if (box.offsetWidth <= 1 && box.offsetHeight <= 1 && getComputedStyle(box).overflow === "hidden")
        return true;
    }
    return false;
  };

  if (slide.scrollHeight > 720) problems.push(`${id}: the slide is ${slide.scrollHeight} px high`);
  const seen = [...slide.querySelectorAll("*")].filter(
    (element) =>
      !element.closest("aside.notes") &&
      element.tagName !== "title" &&
      // Texts of other verdicts are not on the slide.
      element.getClientRects().length > 0 &&
      !isHeardOnly(element),
  );
  // A box that scrolls hides on stage what does not fit into it.
  for (const element of seen) {
    const { overflowX, overflowY } = getComputedStyle(element);
    if (overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1)
      say(element, "is cut off at its side");
    if (overflowY !== "visible" && element.scrollHeight > element.clientHeight + 1)
      say(element, "is cut off at its foot");
  }
  for (const element of seen) {
    const lines = linesOf(element);
    if (lines.length === 0 && element.tagName !== "CANVAS") continue;
    const boxes = element.tagName === "CANVAS" ? [element.getBoundingClientRect()] : lines;
    const beyond = Math.max(
      ...boxes.flatMap((box) => [
        stage.left - box.left,
        stage.top - box.top,
        box.right - stage.right,
        box.bottom - stage.bottom,
      ]),
    );
    if (beyond > 1) say(element, `leaves the stage by ${Math.round(beyond / scale)} px`);
    if (lines.length === 0) continue;
    const size = element.ownerSVGElement
      ? parseFloat(getComputedStyle(element).fontSize) * (element.getScreenCTM().a / scale)
      : parseFloat(getComputedStyle(element).fontSize);
    if (size < SMALLEST_PX - 0.05) say(element, `has ${size.toFixed(1)} px`);
  }

  // Nothing may cover the line that says where the data come from, or where the talk is: its minutes, or a slide's number.
  const overlap = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  const places = [...document.querySelectorAll(".slide-number, .minutes")].filter(
    (place) => getComputedStyle(place).visibility === "visible" && place.getClientRects().length > 0,
  );
  const isAppendix = slide.matches('[data-visibility="uncounted"]');
  for (const place of places) {
    if (place.matches(".minutes") === isAppendix)
      problems.push(`${id}: slides of the appendix have a number, and the others minutes`);
    if (isAppendix && !/^A[1-9]\d*$/.test(place.dataset.appendix))
      problems.push(`${id}: a slide of the appendix does not show its number`);
  }
  for (const label of [...slide.querySelectorAll("p.provenance"), ...places]) {
    const isPlace = places.includes(label);
    const place = isPlace ? [label.getBoundingClientRect()] : linesOf(label);
    for (const element of seen) {
      if (element === label || label.contains(element) || element.contains(label)) continue;
      const boxes = element.tagName === "CANVAS" ? [element.getBoundingClientRect()] : linesOf(element);
      if (boxes.some((box) => place.some((line) => overlap(box, line))))
        say(element, isPlace ? "lies under the minutes or the number" : "covers the label of the charts");
    }
  }
  return problems;
}

/** Texts within a chart that are cut off, too small, or cover each other. Sizes are px of the unscaled slide. */
export function chartTextProblems(id) {
  const SMALLEST_PX = 20;
  const problems = [];
  for (const canvas of document.getElementById(id).querySelectorAll("canvas[data-chart]")) {
    const { chart, src } = window.replay.charts.charts.get(canvas);
    if (!chart?.chartArea) continue;
    const name = `${id}: ${src?.split("/").at(-1)}`;
    const { ctx, width, height, options } = chart;
    const fonts = {
      "the tooltip's title": options.plugins.tooltip?.titleFont,
      "the tooltip": options.plugins.tooltip?.bodyFont,
    };
    for (const [axis, scale] of Object.entries(chart.scales)) {
      if (!scale.options.display) continue;
      if (scale.options.title?.display) fonts[`the title of ${axis}`] = scale.options.title.font;
      const items = scale.getLabelItems(chart.chartArea);
      const boxes = items.map(({ label, font, options: place }) => {
        if (font.size < SMALLEST_PX) problems.push(`${name}: “${label}” has ${font.size} px`);
        ctx.save();
        ctx.font = font.string;
        const wide = Math.max(...[label].flat().map((line) => ctx.measureText(line).width));
        ctx.restore();
        const [x] = place.translation;
        const left = x - { left: 0, start: 0, center: wide / 2, right: wide, end: wide }[place.textAlign];
        const y = place.translation[1];
        return { label, left, right: left + wide, y };
      });
      for (const { label, left, right, y } of boxes) {
        const beyond = Math.max(-left, right - width, -y, y - height);
        if (beyond > 1.5)
          problems.push(`${name}: the label “${label}” of ${axis} is cut by ${Math.round(beyond)} px`);
      }
      if (!scale.isHorizontal()) continue;
      const inOrder = boxes.filter(({ label }) => String(label) !== "").sort((a, b) => a.left - b.left);
      inOrder.slice(1).forEach((box, at) => {
        if (box.left < inOrder[at].right - 1)
          problems.push(`${name}: the labels “${inOrder[at].label}” and “${box.label}” of ${axis} overlap`);
      });
    }
    for (const [what, font] of Object.entries(fonts))
      if (font?.size < SMALLEST_PX) problems.push(`${name}: ${what} has ${font.size} px`);
  }
  return problems;
}
