import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import path from "node:path";
import { it, mock } from "node:test";
import { pathToFileURL } from "node:url";

import { progress } from "../../scripts/npm/progress.mjs";

const MODULE = pathToFileURL(path.resolve(import.meta.dirname, "../../scripts/npm/progress.mjs")).href;
const stream = (facts) => ({
  ...{ text: "", ...facts },
  write(part) {
    this.text += part;
  },
});

/** The last line that a terminal shows after a text. */
const lastLine = (text) => text.slice(text.lastIndexOf("\u001b[K") + "\u001b[K".length);

it("without a terminal a step is one line", () => {
  const out = stream({ isTTY: false });
  const shown = progress(out);
  shown.step("Mixing");
  shown.step("Baking");
  shown.end();
  assert.equal(out.text, "Mixing …\nBaking …\n");
});

it("on a terminal a step counts its seconds in one line, and leaves none behind", (t) => {
  const out = stream({ isTTY: true, columns: 30 });
  mock.timers.enable({ apis: ["setInterval"] });
  t.after(() => mock.timers.reset());
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const shown = progress(out);
  shown.step("Baking");
  assert.equal(lastLine(out.text), "Baking …");
  for (let second = 1; second <= 3; second += 1) {
    now += 1000;
    mock.timers.tick(1000);
  }
  assert.equal(lastLine(out.text), "Baking … 3 s");
  shown.step("A step with a name that is longer than the line");
  assert.ok(lastLine(out.text).length < 30);
  shown.end();
  assert.equal(lastLine(out.text), "");
  assert.ok(!out.text.includes("\n"));
  const before = out.text;
  mock.timers.tick(5000);
  assert.equal(out.text, before);
});

it("after Ctrl-C the program says what became of the work, and ends as a shell expects", async () => {
  const program = spawn(process.execPath, [
    ...["--input-type=module", "-e"],
    `import { endWhenInterrupted, progress } from ${JSON.stringify(MODULE)};
     const shown = progress();
     endWhenInterrupted(shown, "Stopped. No cake.");
     shown.step("Baking");
     setTimeout(() => {}, 600_000);`,
  ]);
  let said = "";
  program.stderr.on("data", (part) => {
    said += part;
    if (said === "Baking …\n") program.kill("SIGINT");
  });
  assert.equal(await new Promise((resolve) => program.on("exit", resolve)), 130);
  assert.equal(said, "Baking …\nStopped. No cake.\n");
});
