const CLASS = "chart-csv-error";
/** The reason, which a page may keep from an audience. */
const REASON_CLASS = "chart-csv-reason";
const NOTE_CLASS = "chart-csv-note";
const BOX_CLASS = "chart-box";
const shown = new WeakMap();
const notes = new WeakMap();

/**
 * Puts a visible error in a canvas' place: the canvas is hidden, and an element with `role="alert"` comes after it.
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
  const reason = canvas.ownerDocument.createElement("span");
  reason.className = REASON_CLASS;
  reason.textContent = `: ${error.message}`;
  view.alert.replaceChildren("No chart", reason);
}

/** Removes the error and shows the canvas again. */
export function clearError(canvas) {
  const view = shown.get(canvas);
  if (!view) return;
  view.alert.remove();
  canvas.style.display = view.display;
  shown.delete(canvas);
}

/**
 * Writes lines below a chart that is itself correct: what it could not show beside its data. Without lines there is no
 * element.
 * @param {HTMLCanvasElement} canvas
 * @param {string[]} lines
 */
export function showNotes(canvas, lines) {
  const text = lines.join(" ");
  let note = notes.get(canvas);
  if (!text) {
    note?.remove();
    notes.delete(canvas);
    return;
  }
  if (!note) {
    note = canvas.ownerDocument.createElement("p");
    note.className = NOTE_CLASS;
    note.setAttribute("role", "status");
    notes.set(canvas, note);
    placeOf(canvas).after(note);
  }
  if (note.textContent !== text) note.textContent = text;
}

/** A canvas in a box of fixed height has its notes below the box. */
function placeOf(canvas) {
  const parent = canvas.parentElement;
  return parent?.classList.contains(BOX_CLASS) ? parent : canvas;
}

/** Removes what these functions added from a copy of the page's markup (a cloned page, a restored slide). */
export function forgetCopied(canvas) {
  if (!notes.has(canvas)) {
    const note = placeOf(canvas).nextElementSibling;
    if (note?.classList.contains(NOTE_CLASS)) note.remove();
  }
  if (shown.has(canvas)) return;
  const next = canvas.nextElementSibling;
  if (!next?.classList.contains(CLASS)) return;
  next.remove();
  canvas.style.display = "";
}
