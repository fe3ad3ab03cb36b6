// node tests/deck/zz-320.mjs OUT TALK [ids|cut|appendix|all]   (from the worktree)
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { startPresentServer } from "../../scripts/deck/server.js";
import { launchPatiently } from "./support/browser.js";
const [out, talk, which = "all"] = process.argv.slice(2);
const server = await startPresentServer({ port: 0, followSources: false });
const browser = await launchPatiently();
await mkdir(out, { recursive: true });
const H = 640;
const page = await browser.newPage({ viewport: { width: 320, height: H }, reducedMotion: "reduce", isMobile: true, hasTouch: true });
const problems = [];
page.on("pageerror", (e) => problems.push(String(e)));
await page.goto(`${server.url}?explore&theme=light&talk=${talk}#/${talk === "rpo" ? "shop" : "promise"}`);
await page.waitForSelector("html[data-deck-ready]", { state: "attached", timeout: 40000 });
const ids = await page.evaluate((which) => [...document.querySelectorAll(".slides section:not(.stack)")].filter((s) => which === "all" ? true : which === "cut" ? s.dataset.visibility !== "uncounted" : which === "appendix" ? s.dataset.visibility === "uncounted" : which.split(",").includes(s.id)).map((s) => s.id).filter(Boolean), which);
const shots = [];
for (const id of ids) {
  await page.evaluate((id) => document.getElementById(id).scrollIntoView({ block: "start", behavior: "instant" }), id);
  await page.waitForTimeout(350);
  await page.waitForFunction((id) => !document.getElementById(id).querySelector("canvas[data-chart-state=loading]"), id, { timeout: 8000 }).catch(() => problems.push(`${id}: loading`));
  await page.waitForTimeout(300);
  await page.evaluate((id) => document.getElementById(id).scrollIntoView({ block: "start", behavior: "instant" }), id);
  const { height, wide } = await page.evaluate((id) => {
    const s = document.getElementById(id);
    return { height: s.getBoundingClientRect().height, wide: [...s.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > 321 && !e.closest("svg,[class*=scroll],pre,.hidden,[hidden],.visually-hidden") && getComputedStyle(e).visibility !== "hidden" && e.getBoundingClientRect().width > 1).slice(0, 2).map((e) => e.tagName + "." + e.className) };
  }, id);
  if (wide.length) problems.push(`${id}: beyond 320: ${wide}`);
  const parts = Math.min(3, Math.max(1, Math.ceil((height - 40) / (H - 60))));
  const files = [];
  for (let part = 0; part < parts; part += 1) {
    if (part) { await page.evaluate((dy) => window.scrollBy(0, dy), H - 60); await page.waitForTimeout(150); }
    const file = path.join(out, `${String(shots.length).padStart(2, "0")}-${id}-${part}.png`);
    await page.screenshot({ path: file });
    files.push(file);
  }
  shots.push({ id, files });
}
console.log(await page.evaluate(() => document.documentElement.scrollWidth), problems);
await page.close();
const PER = 12;
for (let from = 0; from < shots.length; from += PER) {
  const sheet = await browser.newPage({ viewport: { width: 6 * 326 + 6, height: 900 } });
  const cells = await Promise.all(shots.slice(from, from + PER).map(async ({ id, files }) => `<figure><figcaption>${id}</figcaption>${(await Promise.all(files.map(async (f) => `<img src="data:image/png;base64,${(await readFile(f)).toString("base64")}">`))).join("<br>")}</figure>`));
  await sheet.setContent(`<style>body{margin:0;background:#888;display:grid;grid-template-columns:repeat(6,320px);gap:6px;padding:6px;font:13px sans-serif;align-items:start}figure{margin:0}img{width:320px;display:block;border-bottom:2px solid red}</style>${cells.join("")}`);
  await sheet.screenshot({ path: `${out}-${String(from / PER)}.png`, fullPage: true });
  await sheet.close();
}
console.log(shots.length, "slides");
await browser.close();
await server.close();
