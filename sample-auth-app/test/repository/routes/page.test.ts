import { describe, expect, it } from "@jest/globals";

import { openApp } from "../support.js";
import { forEachRow } from "../support/cases.js";

describe("GET /", () => {
  it("is a page that can load only from this origin, and run no inline script", async () => {
    await using app = await openApp();
    const response = await app.request.get("/").expect(200);
    expect(response.get("Content-Type")).toBe("text/html; charset=utf-8");
    expect(response.get("Content-Security-Policy")).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    expect(response.get("Content-Security-Policy")).not.toContain("unsafe");
    expect(response.text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
  });

  it("serves only its files", async () => {
    await using app = await openApp();
    await forEachRow(
      ["/assets/..%2Findex.html", "/assets/%2Fetc%2Fpasswd", "/assets/nothing.js", "/assets/..", "/assets"],
      async (path) => {
        await app.request.get(path).expect(404);
      },
    );
  });
});
