const CLASS = "chart-csv-error";
const shown = new WeakMap();

/**
 * Puts a visible error in a canvas' place: the canvas is hidden, an element with `role="alert"` stands after it.
 * Calling it again changes the text.
 * @param {HTMLCanvasElement} canvas
 * @param {Error} error
 */
export function showError(canvas, error) {
  let view = shown.get(canvas);
  if (!view) {
    const alert = canvas.ownerDocument.createElement("div");
    alert.className = CLASS;
    alert.setAttribute("role", "alert");
    view = { alert, display: canvas.style.display };
    shown.set(canvas, view);
    canvas.style.display = "none";
    canvas.after(alert);
  }
  view.alert.textContent = `No chart: ${error.message}`;
}

/** Takes the error away and shows the canvas again. */
export function clearError(canvas) {
  const view = shown.get(canvas);
  if (!view) return;
  view.alert.remove();
  canvas.style.display = view.display;
  shown.delete(canvas);
}

/** Removes what `showError` left in a copy of the page's markup (a cloned page, a restored slide). */
export function forgetCopiedError(canvas) {
  if (shown.has(canvas)) return;
  const next = canvas.nextElementSibling;
  if (!next?.classList.contains(CLASS)) return;
  next.remove();
  canvas.style.display = "";
}
