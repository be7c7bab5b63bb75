import { describe, expect, it } from "@jest/globals";

import { openApp } from "../support.js";

describe("GET /", () => {
  it("is a page that may load from here alone, and run no script of its own text", async () => {
    await using app = await openApp();
    const response = await app.request.get("/").expect(200);
    expect(response.get("Content-Type")).toBe("text/html; charset=utf-8");
    expect(response.get("Content-Security-Policy")).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    expect(response.get("Content-Security-Policy")).not.toContain("unsafe");
    expect(response.text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
  });

  it("names files that are there, and are asked for again when they have changed", async () => {
    await using app = await openApp();
    const { text } = await app.request.get("/");
    const files = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, file]) => file!);
    expect(new Set(files)).toEqual(new Set(["/assets/icon.svg", "/assets/style.css", "/assets/app.js"]));
    for (const file of files) {
      const response = await app.request.get(file).expect(200);
      expect(response.get("Cache-Control")).toBe("no-cache");
      await app.request.get(file).set("If-None-Match", response.get("ETag")!).expect(304);
    }
  });

  it.each(["/assets/..%2Findex.html", "/assets/%2Fetc%2Fpasswd", "/assets/nothing.js", "/assets/..", "/assets"])(
    "has nothing but its files: %s",
    async (path) => {
      await using app = await openApp();
      await app.request.get(path).expect(404);
    },
  );
});
