import { expect, it } from "@jest/globals";

import { openApp } from "../support.js";

it("serves a page that loads resources from this origin only, and runs no inline script", async () => {
  await using app = await openApp();
  const response = await app.request.get("/").expect(200);
  expect(response.get("Content-Security-Policy")).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
  expect(response.text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
  await app.request.get("/assets/app.js").expect(200);
  await app.request.get("/assets/..%2Findex.html").expect(404);
});

it("reports to the page whether there is a session, and the demo user only in development", async () => {
  await using app = await openApp();
  await app.request.get("/auth/session").expect(200, { hasCookie: false, demo: null });
  await app.request.get("/auth/session").set("Cookie", "refresh_token=x").expect(200, { hasCookie: true, demo: null });
});
