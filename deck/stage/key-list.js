/** The list of keys for a speaker and for a reader. Pure. */

const MOVING = [
  { keys: ["Space", "→", "↓", "Page Down", "N"], does: "Next step or slide" },
  { keys: ["←", "↑", "Page Up", "P"], does: "Previous step or slide" },
];
const STAGE = [
  { keys: ["B", "."], does: "Black screen; any navigation key ends it" },
  { keys: ["F", "F5"], does: "Full screen; Esc to leave" },
  { keys: ["S"], does: "Speaker view: notes, clock, pace" },
  { keys: ["Shift + O"], does: "Show or hide the overview of all slides" },
  { keys: ["Ctrl + click"], does: "Zoom in where you click, and out again (Alt on Windows and macOS)" },
];
const READER = [
  { keys: ["Home", "End"], does: "First slide, last slide" },
  { keys: ["C"], does: "Contents" },
  { keys: ["/", "Ctrl + K"], does: "Search" },
  { keys: ["O"], does: "Show or hide the overview of all slides" },
  { keys: ["B", "."], does: "Black screen; any navigation key ends it" },
  { keys: ["F"], does: "Full screen; Esc to leave" },
  { keys: ["S"], does: "Speaker view: notes, clock, pace" },
];

/**
 * @param {{explore: boolean}} mode
 * @param {{key: string, description: string}[]} tools   keys of the talk's own tools
 * @returns {{keys: string[], does: string}[]}
 */
export function keyList({ explore }, tools) {
  const own = tools.map(({ key, description }) => ({ keys: [key], does: description }));
  const listed = new Set([...MOVING, ...(explore ? READER : STAGE)].flatMap(({ keys }) => keys));
  return [
    ...MOVING,
    ...(explore ? READER : STAGE),
    ...own.filter(({ keys }) => !listed.has(keys[0])),
    { keys: ["?", "F1"], does: "Show or hide this list" },
  ];
}
