// Opens a page in the person's browser, if there is a display.

import { spawn } from "node:child_process";

/** Opens `url`; returns whether there was a display. The caller prints the address in any case. */
export function openBrowser(url, { environment = process.env, platform = process.platform } = {}) {
  const program = { darwin: "open", linux: "xdg-open" }[platform];
  const hasDisplay = platform !== "linux" || environment.DISPLAY || environment.WAYLAND_DISPLAY;
  if (!program || !hasDisplay) return false;
  const child = spawn(program, [url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
  return true;
}
