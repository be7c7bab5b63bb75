import { describe, expect, it } from "@jest/globals";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { PEER_SOURCES } from "../src/paths.js";

describe("tsgi and the peers", () => {
  it("sets its I/O loop, even if the package of another one is installed there", async () => {
    const files = await readdir(fileURLToPath(PEER_SOURCES), { recursive: true });
    const servers = files.filter((name) => /\/tsgi[^/]*\.js$/.test(name) && !name.includes("node_modules"));
    expect(servers).not.toHaveLength(0);
    for (const name of servers) {
      const text = await readFile(new URL(name, PEER_SOURCES), "utf8");
      const calls = text.match(/\bserve\(app,[^;]*;/g) ?? [];
      for (const call of calls) expect(`${name}: ${call}`).toMatch(/loop: "(libuv|uwebsockets)"/);
    }
  });
});
