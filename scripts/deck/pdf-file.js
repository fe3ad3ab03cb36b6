/**
 * Reads from a PDF file, as Chromium writes it, what a printed talk is checked by: its pages, and whether it carries its
 * fonts. No general reader: objects have to stand in the file uncompressed, which Chromium's do. Pure.
 */

/**
 * @param {Uint8Array} bytes
 * @returns {{pages: number, fonts: {name: string, embedded: boolean}[]}} fonts: each once, by name
 * @throws {Error} when it is no PDF file, or not one of this kind
 */
export function readPdf(bytes) {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  if (!text.startsWith("%PDF-")) throw new Error("this is no PDF file");
  const pages = [...text.matchAll(/\/Type\s*\/Page(?![A-Za-z])/g)].length;
  if (pages === 0) throw new Error("this PDF file lists its pages in a way that is not read here");
  const fonts = new Map();
  for (const { index } of text.matchAll(/\/Type\s*\/FontDescriptor\b/g)) {
    const descriptor = text.slice(text.lastIndexOf("<<", index), text.indexOf(">>", index));
    // The six letters before + only say that a part of the font is in the file.
    const name = /\/FontName\s*\/(?:[A-Z]{6}\+)?([^\s/<>[\]()]+)/.exec(descriptor)?.[1] ?? "?";
    const embedded = /\/FontFile[23]?\b/.test(descriptor);
    fonts.set(name, { name, embedded: embedded && (fonts.get(name)?.embedded ?? true) });
  }
  return { pages, fonts: [...fonts.values()].sort((a, b) => (a.name < b.name ? -1 : 1)) };
}
