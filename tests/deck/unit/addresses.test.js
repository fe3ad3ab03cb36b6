import assert from "node:assert/strict";
import { test } from "node:test";

import {
  projectAddress,
  repositoryAddress,
  siteAddress,
  withQuery,
} from "../../../scripts/deck/addresses.js";

test("the site's address comes from the environment or package.json, never from the repository", () => {
  assert.equal(siteAddress({}, {}), "");
  assert.equal(siteAddress({}, { repository: "https://example.org/replay" }), "");
  const stated = { homepage: "https://b.example/talk" };
  assert.equal(siteAddress({}, stated), "https://b.example/talk");
  assert.equal(siteAddress({ REPLAY_HOMEPAGE: "https://a.example" }, stated), "https://a.example");
  for (const wrong of ["talk", "ftp://a.example", "javascript:alert(1)", "https://"])
    assert.equal(siteAddress({ REPLAY_HOMEPAGE: wrong }, {}), "", wrong);
});

test("the repository's address is one that a browser opens and git clones", () => {
  assert.equal(repositoryAddress({ repository: "" }, {}), "");
  const repository = "https://example.org/replay.git";
  assert.equal(repositoryAddress({ repository }, {}), "https://example.org/replay");
  assert.equal(
    repositoryAddress({ repository }, { REPLAY_REPOSITORY: "https://example.org/fork" }),
    "https://example.org/fork",
  );
  assert.equal(repositoryAddress({ repository: "git@example.org:replay.git" }, {}), "");
});

test("the QR code leads to the repository, else to the site", () => {
  const repository = "https://example.org/replay";
  const homepage = "https://b.example";
  assert.equal(projectAddress({ repository: "" }, {}, {}), "");
  assert.equal(projectAddress({ repository }, {}, { homepage }), repository);
  assert.equal(projectAddress({ repository: "" }, {}, { homepage }), homepage);
});

test("a parameter is added to an address as a person would type it", () => {
  assert.equal(withQuery("http://127.0.0.1:8000/", "explore"), "http://127.0.0.1:8000/?explore");
  assert.equal(withQuery("http://127.0.0.1:8000/?data=a", "cut=20"), "http://127.0.0.1:8000/?data=a&cut=20");
});
