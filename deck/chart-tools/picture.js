/** A chart as a picture to copy or save. */

import { wrapLabel } from "chartjs-plugin-csv";

const EDGE = 24;
const TITLE_SIZE = 28;
const LABEL_SIZE = 20;
const LINE = 1.35;

/**
 * A chart as a picture that makes sense without its slide: the title is above it, the origin of the data below.
 * @param {HTMLCanvasElement} canvas   a drawn chart
 * @param {{title: string, label: string, colors: {page: string, ink: string, muted: string}}} words
 * @returns {Promise<Blob>} PNG
 */
export async function pictureOf(canvas, { title, label, colors }) {
  const ratio = canvas.width / canvas.offsetWidth;
  const width = canvas.offsetWidth + 2 * EDGE;
  const family = getComputedStyle(canvas).fontFamily;
  const fonts = { title: `700 ${TITLE_SIZE}px ${family}`, label: `400 ${LABEL_SIZE}px ${family}` };
  const picture = canvas.ownerDocument.createElement("canvas");
  const context = picture.getContext("2d");
  const wrapped = (text, font) => {
    context.font = font;
    return text ? wrapLabel(text, canvas.offsetWidth, (part) => context.measureText(part).width) : [];
  };
  const titleLines = wrapped(title, fonts.title);
  const labelLines = wrapped(label, fonts.label);
  const above = EDGE + titleLines.length * TITLE_SIZE * LINE + EDGE / 2;
  const below = EDGE / 2 + labelLines.length * LABEL_SIZE * LINE + EDGE;
  picture.width = Math.round(width * ratio);
  picture.height = Math.round((above + canvas.offsetHeight + below) * ratio);
  context.scale(ratio, ratio);
  context.fillStyle = colors.page;
  context.fillRect(0, 0, width, picture.height / ratio);
  context.textBaseline = "top";
  const write = (lines, { font, size, color, top }) => {
    Object.assign(context, { font, fillStyle: color });
    lines.forEach((line, at) => context.fillText(line, EDGE, top + at * size * LINE));
  };
  write(titleLines, { font: fonts.title, size: TITLE_SIZE, color: colors.ink, top: EDGE });
  context.drawImage(canvas, EDGE, above, canvas.offsetWidth, canvas.offsetHeight);
  const top = above + canvas.offsetHeight + EDGE / 2;
  write(labelLines, { font: fonts.label, size: LABEL_SIZE, color: colors.muted, top });
  const blob = await new Promise((resolve) => picture.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("the browser could not make a picture of the chart");
  return blob;
}
