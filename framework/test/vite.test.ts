import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { IS_SLOW, installOnDemand } from "./support/on-demand.js";

const FRAMEWORK = path.resolve(import.meta.dirname, "..");

const MAIN = `
import { App } from "tsgi";
import "tsgi/middleware";
import "tsgi/node";
import "tsgi/security";
import "@tsgi/metrics";
import "@tsgi/oauth";
import "@tsgi/otel";
const app = new App();
app.get("/", async () => "hello");
app.websocket("/ws", async ({ ws }) => ws.accept());
const response = await app.fetch(new Request("http://localhost/"));
console.log(await response.text());
`;

const PROGRAM = `
import { createServer } from "vite";
const server = await createServer({
  configFile: false,
  appType: "custom",
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  ssr: { noExternal: [/^(?:@tsgi\\/|tsgi)/] }, // Vite itself does not transform CommonJS, such as prom-client
  optimizeDeps: { noDiscovery: true },
});
await server.ssrLoadModule("/main.js");
await server.close();
`;

const slow = IS_SLOW ? it : it.skip;

describe("Vite, where it transforms tsgi for a server", () => {
  it("finds no variable in a static block, because it moves them out", () => {
    const files = readdirSync(FRAMEWORK, { recursive: true, encoding: "utf8" }).filter((file) =>
      /^[^/]+\/src\/.*\.ts$/.test(file),
    );
    const found = files.filter((file) =>
      /\bstatic \{[^}]*\b(?:const|let|var) /.test(readFileSync(path.join(FRAMEWORK, file), "utf8")),
    );
    expect(files.length).toBeGreaterThan(300);
    expect(found).toEqual([]);
  });

  slow("loads an application", () => {
    const home = installOnDemand("vite", ["vite@7.3.8"]);
    const folder = path.join(home, "app");
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(path.join(folder, "node_modules/@tsgi"), { recursive: true });
    symlinkSync(path.join(FRAMEWORK, "core"), path.join(folder, "node_modules/tsgi"));
    for (const name of ["metrics", "oauth", "otel"]) {
      symlinkSync(path.join(FRAMEWORK, name), path.join(folder, "node_modules/@tsgi", name));
    }
    writeFileSync(path.join(folder, "main.js"), MAIN);
    writeFileSync(path.join(folder, "program.mjs"), PROGRAM);
    expect(execFileSync(process.execPath, ["program.mjs"], { cwd: folder, encoding: "utf8" })).toBe('"hello"\n');
  });
});
