/** Copying to the clipboard and saving to a file. Every function returns whether it worked; the caller tells the reader. */

/** @returns {Promise<boolean>} whether the text is on the clipboard now */
export async function copyText(text, page = document) {
  try {
    await page.defaultView.navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages without TLS have no clipboard, and permission may be denied; the older way needs neither.
    return copySelected(text, page);
  }
}

function copySelected(text, page) {
  const before = page.activeElement;
  const area = page.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  // While a dialog is open, nothing outside it can take the focus.
  (before?.closest("dialog") ?? page.body).append(area);
  area.select();
  try {
    return page.execCommand("copy");
  } catch {
    return false;
  } finally {
    area.remove();
    before?.focus?.({ preventScroll: true });
  }
}

/** @returns {Promise<boolean>} whether the picture is on the clipboard now */
export async function copyPicture(blob, page = document) {
  const { navigator, ClipboardItem } = page.defaultView;
  if (!navigator.clipboard?.write || !ClipboardItem) return false;
  try {
    await navigator.clipboard.write([new ClipboardItem({ [blob.type]: blob })]);
    return true;
  } catch {
    return false;
  }
}

/** Downloads a file. */
export function save(blob, name, page = document) {
  const link = page.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The download reads the address after this task ends.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
