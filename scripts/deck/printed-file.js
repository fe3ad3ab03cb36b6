/** Reads from a PDF file what a printed talk is checked by: how many pages it has, and which fonts. Pure. */

import { PDFDict, PDFDocument, PDFName } from "@cantoo/pdf-lib";

const name = (text) => PDFName.of(text);
const FONT = name("Font");
/** Six letters before + only say that a part of the font is in the file. */
const SUBSET = /^[A-Z]{6}\+/;

/**
 * @param {Uint8Array} bytes   as Chromium prints them
 * @returns {Promise<{pages: number, fonts: string[]}>} fonts: each name once, sorted
 */
export async function readPdf(bytes) {
  const file = await PDFDocument.load(bytes, { updateMetadata: false });
  const fonts = file.context
    .enumerateIndirectObjects()
    .map(([, object]) => object)
    .filter((object) => object instanceof PDFDict && object.lookup(name("Type")) === FONT)
    // A composite font is called by its parts.
    .filter((font) => font.lookup(name("Subtype")) !== name("Type0"))
    .map(nameOf);
  return { pages: file.getPageCount(), fonts: [...new Set(fonts)].sort() };
}

/** A font whose glyphs are drawings has no name but that of its descriptor. */
function nameOf(font) {
  const descriptor = font.lookupMaybe(name("FontDescriptor"), PDFDict);
  const written =
    font.lookupMaybe(name("BaseFont"), PDFName) ?? descriptor?.lookupMaybe(name("FontName"), PDFName);
  return (written?.decodeText() ?? "?").replace(SUBSET, "");
}
