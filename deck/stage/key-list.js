/** The keys that work, as they are listed for a speaker and for a reader. Pure. */

const MOVING = [
  { keys: ["Space", "→", "↓", "Page Down", "N"], does: "On: the next step or slide" },
  { keys: ["←", "↑", "Page Up", "P"], does: "Back" },
];
const STAGE = [
  { keys: ["B", "."], does: "Black screen; any key that moves ends it" },
  { keys: ["F", "F5"], does: "Full screen; Esc leaves it" },
  { keys: ["S"], does: "Speaker view: notes, clock, pace" },
  { keys: ["Shift + O"], does: "Overview of all slides; again, or Esc, leaves it" },
];
const READER = [
  { keys: ["Home", "End"], does: "First slide, last slide" },
  { keys: ["C"], does: "Contents" },
  { keys: ["/", "Ctrl + K"], does: "Search" },
  { keys: ["O"], does: "Overview of all slides; again, or Esc, leaves it" },
  { keys: ["B", "."], does: "Black screen; any key that moves ends it" },
  { keys: ["F"], does: "Full screen; Esc leaves it" },
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
    { keys: ["?"], does: "This list; any key that moves puts it away" },
  ];
}
