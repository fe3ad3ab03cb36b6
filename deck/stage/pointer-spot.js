/**
 * A spot that follows the mouse (key M), for showing a point of a chart to a room. It is mirrored: the mouse over the speaker
 * view's picture of the slide moves the spot on stage.
 */

import { element } from "../page/elements.js";

const M = 77;
/** Of the slide's width. */
const SIZE = 0.045;

/**
 * @param {{slides: () => Element, echo: ReturnType<typeof import("./echo.js").Echo>}} given   slides: what positions are
 *   relative to, in each window
 * @returns {{keys: object[]}}
 */
export function PointerSpot({ slides, echo }, page = document) {
  let spot = null;

  /** Shows it at shares of the slide's width and height; null hides it. */
  function show(at) {
    if (spot === null) return;
    spot.hidden = at === null;
    if (at === null) return;
    const { left, top, width, height } = slides().getBoundingClientRect();
    const size = SIZE * width;
    Object.assign(spot.style, {
      width: `${size}px`,
      height: `${size}px`,
      left: `${left + at.x * width - size / 2}px`,
      top: `${top + at.y * height - size / 2}px`,
    });
  }

  function move({ clientX, clientY }) {
    const { left, top, width, height } = slides().getBoundingClientRect();
    tell({ x: (clientX - left) / width, y: (clientY - top) / height });
  }

  function tell(at) {
    show(at);
    echo.tell({ spot: at });
  }

  const leave = () => tell(null);

  function turn(isOn) {
    if (isOn === (spot !== null)) return;
    if (spot) {
      page.removeEventListener("pointermove", move);
      page.documentElement.removeEventListener("pointerleave", leave);
      spot.remove();
      spot = null;
      return;
    }
    spot = element(page, "div", { class: "pointer-spot", "aria-hidden": "true", hidden: "" });
    page.body.append(spot);
    page.addEventListener("pointermove", move);
    page.documentElement.addEventListener("pointerleave", leave);
  }

  function toggle() {
    turn(spot === null);
    echo.tell({ spotIsOn: spot !== null });
  }

  echo.listen(({ spot: at, spotIsOn }) => {
    if (typeof spotIsOn === "boolean") turn(spotIsOn);
    // A window that has just opened asks the others.
    else if (spotIsOn === null && spot !== null) echo.tell({ spotIsOn: true });
    if (at !== undefined) show(at);
  });
  echo.tell({ spotIsOn: null });
  return {
    keys: [
      {
        code: M,
        key: "M",
        description: "A spot that follows the mouse, also in the speaker view",
        run: toggle,
      },
    ],
  };
}
