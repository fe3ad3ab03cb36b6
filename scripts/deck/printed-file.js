/** Reads from a PDF file what a printed talk is checked by: its pages, and whether it carries its fonts. Pure. */

import { PDFArray, PDFDict, PDFDocument, PDFName, PDFStream } from "@cantoo/pdf-lib";

const name = (text) => PDFName.of(text);
const FONT = name("Font");
const FONT_FILES = ["FontFile", "FontFile2", "FontFile3"].map(name);
/** Six letters before + only say that a part of the font is in the file. */
const SUBSET = /^[A-Z]{6}\+/;

/**
 * @param {Uint8Array} bytes
 * @returns {Promise<{pages: number, fonts: {name: string, embedded: boolean}[]}>} fonts: each once, by name
 * @throws {Error} when it is no PDF file
 */
export async function readPdf(bytes) {
  const { file, pages } = await opened(bytes);
  const fonts = new Map();
  for (const [, object] of file.context.enumerateIndirectObjects()) {
    for (const font of dictionariesIn(object)) {
      // A composite font says nothing of its own: its parts do.
      if (font.lookup(name("Type")) !== FONT || font.lookup(name("Subtype")) === name("Type0")) continue;
      const called = nameOf(font);
      fonts.set(called, {
        name: called,
        embedded: isEmbedded(font) && (fonts.get(called)?.embedded ?? true),
      });
    }
  }
  return {
    pages,
    fonts: [...fonts.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

async function opened(bytes) {
  try {
    const file = await PDFDocument.load(bytes, { updateMetadata: false });
    return { file, pages: file.getPageCount() };
  } catch (error) {
    throw new Error(`this is no PDF file: ${error.message}`, { cause: error });
  }
}

/** An object's own dictionary and those nested in it, but not those that it refers to. */
function* dictionariesIn(object) {
  if (object instanceof PDFStream) yield* dictionariesIn(object.dict);
  else if (object instanceof PDFArray) for (const part of object.asArray()) yield* dictionariesIn(part);
  else if (object instanceof PDFDict) {
    yield object;
    for (const part of object.values()) yield* dictionariesIn(part);
  }
}

function nameOf(font) {
  const descriptor = font.lookupMaybe(name("FontDescriptor"), PDFDict);
  const written =
    font.lookupMaybe(name("BaseFont"), PDFName) ??
    descriptor?.lookupMaybe(name("FontName"), PDFName) ??
    font.lookupMaybe(name("Name"), PDFName);
  return (written?.decodeText() ?? "?").replace(SUBSET, "");
}

/** The glyphs of a Type 3 font are drawings in the file itself; every other font brings a font file, or is not there. */
function isEmbedded(font) {
  if (font.lookup(name("Subtype")) === name("Type3")) return true;
  const descriptor = font.lookupMaybe(name("FontDescriptor"), PDFDict);
  return descriptor !== undefined && FONT_FILES.some((key) => descriptor.lookup(key) !== undefined);
}
