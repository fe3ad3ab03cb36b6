import { forgetCopied } from "../error-view.js";

const BOX = "chart-box";

/**
 * Puts a canvas into a box of fixed height, so that a slide's layout knows the chart's size before the chart exists:
 * `figure.chart-figure > div.chart-box > canvas`, and `figcaption.chart-caption` if captions are used.
 * A canvas that is already in a box (in a copy of a slide) keeps it.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {{height: number, captions: boolean}} options height in px if there is no `data-chart-height`
 * @returns {{box: HTMLElement, caption: HTMLElement|null}}
 */
export function boxCanvas(canvas, { height, captions }) {
  canvas.setAttribute("role", "img");
  if (!canvas.hasAttribute("aria-label")) canvas.setAttribute("aria-label", "Chart, not loaded yet");
  const parent = canvas.parentElement;
  if (parent.classList.contains(BOX)) {
    forgetCopied(canvas);
    return { box: parent, caption: parent.parentElement.querySelector("figcaption.chart-caption") };
  }

  const document = canvas.ownerDocument;
  const figure = document.createElement("figure");
  figure.className = "chart-figure";
  figure.style.margin = "0";
  figure.style.width = "100%";
  const box = document.createElement("div");
  box.className = BOX;
  box.style.position = "relative";
  box.style.width = "100%";
  box.style.height = `${heightOf(canvas, height)}px`;

  // Markdown wraps a lone canvas in a paragraph, which must not contain a figure.
  const lone =
    parent.tagName === "P" &&
    parent.children.length === 1 &&
    parent.textContent.trim() === canvas.textContent.trim();
  (lone ? parent : canvas).replaceWith(figure);
  figure.append(box);
  box.append(canvas);
  Object.assign(canvas.style, { display: "block", width: "100%", height: "100%" });

  let caption = null;
  if (captions) {
    caption = document.createElement("figcaption");
    caption.className = "chart-caption";
    caption.textContent = "\u00a0";
    figure.append(caption);
  }
  return { box, caption };
}

function heightOf(canvas, fallback) {
  const given = Number.parseFloat(canvas.dataset.chartHeight);
  return given > 0 ? given : fallback;
}
