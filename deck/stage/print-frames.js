/**
 * On paper nobody clicks: a drawing that steps, `<div class="drawing frames"><svg>…`, becomes a page of small frames, one for
 * each of its steps.
 */

/**
 * Replaces each stepped drawing below `root` by its frames. Call it before reveal counts the steps.
 * @param {Element} root
 */
export function printFrames(root) {
  for (const drawing of root.querySelectorAll(".drawing.frames")) {
    const whole = drawing.querySelector("svg");
    if (whole === null) continue;
    const frames = stepsIn(whole).map((step) => frameOf(whole, step));
    // The picture is described once, by its last frame.
    for (const frame of frames.slice(0, -1)) frame.setAttribute("aria-hidden", "true");
    drawing.replaceChildren(...frames);
    drawing.classList.add("printed");
  }
}

function stepsIn(svg) {
  const steps = [...svg.querySelectorAll(".fragment")].map((part) => Number(part.dataset.fragmentIndex));
  return [...new Set(steps)].sort((a, b) => a - b);
}

/** The drawing as it is once that step has been taken. */
function frameOf(svg, step) {
  const frame = svg.cloneNode(true);
  for (const part of frame.querySelectorAll(".fragment")) {
    if (Number(part.dataset.fragmentIndex) > step) part.remove();
    else part.classList.remove("fragment");
  }
  return frame;
}
