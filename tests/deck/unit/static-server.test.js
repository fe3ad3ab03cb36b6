import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";

import { serveFolder } from "../../../scripts/deck/static-server.js";
import { temporaryFolder } from "../../support/folders.mjs";

const folder = temporaryFolder({ after });
let server;

before(async () => {
  const site = path.join(folder, "site");
  await mkdir(path.join(site, "slides"), { recursive: true });
  await writeFile(path.join(folder, "secret.txt"), "secret");
  await symlink(path.join(folder, "secret.txt"), path.join(site, "link.txt"));
  await writeFile(path.join(site, "index.html"), "<title>Home</title>");
  await writeFile(path.join(site, "slides", "a.md"), "# A");
  server = await serveFolder(site, { under: "/some/where/" });
});
after(() => server.close());

const get = (name) => fetch(new URL(name, server.url));

test("a folder is served below an address, and its page at the address itself", async () => {
  assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/some\/where\/$/);
  const page = await get("?stage");
  assert.equal(await page.text(), "<title>Home</title>");
  assert.match(page.headers.get("content-type"), /^text\/html/);
  const slide = await get("slides/a.md");
  assert.equal(await slide.text(), "# A");
  assert.match(slide.headers.get("content-type"), /^text\/markdown/);
});

test("everything else is 404: missing files, files elsewhere, and every other address", async () => {
  for (const name of ["none.md", "slides/", "/", "/other/index.html", "link.txt", "..%2fsecret.txt"])
    assert.equal((await get(name)).status, 404, name);
});
