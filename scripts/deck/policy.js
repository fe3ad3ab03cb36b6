/**
 * The page's Content-Security-Policy. Everything comes from the page's own origin, and no inline script runs,
 * with one exception: reveal's speaker view is a window that the plugin fills with a document of its own,
 * whose script is allowed by its digest.
 *
 * Styles may be inline: reveal writes style elements for print, and the speaker view has one.
 */

import { createHash } from "node:crypto";

import notesPlugin from "reveal.js/plugin/notes";

/** The policy as one line. */
export function contentSecurityPolicy() {
  return [
    "default-src 'none'",
    `script-src 'self' ${speakerViewScripts().map(digest).join(" ")}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

/**
 * The scripts of the speaker view: the plugin is asked to open its window, and what it writes is kept.
 * @throws {Error} when a new version of reveal.js no longer works that way
 */
export function speakerViewScripts() {
  const written = [];
  const before = globalThis.window;
  globalThis.window = { open: () => ({ document: { write: (html) => written.push(html) } }) };
  try {
    notesPlugin().open();
  } catch {
    // After writing, the plugin looks for a running deck, which there is none of here.
  } finally {
    if (before === undefined) delete globalThis.window;
    else globalThis.window = before;
  }
  const scripts = [...written.join("").matchAll(/<script>([\s\S]*?)<\/script>/g)].map((match) => match[1]);
  if (scripts.length === 0)
    throw new Error("reveal.js's notes plugin writes no script any more: see scripts/deck/policy.js");
  return scripts;
}

function digest(script) {
  return `'sha256-${createHash("sha256").update(script.replace(/\r\n?/g, "\n")).digest("base64")}'`;
}
