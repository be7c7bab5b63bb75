/** An App as the route handler of a project of Next.js, which is fetched on demand, built and started. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { checkStatement, lackOf, statements, type Subject } from "../anywhere/_statements.js";
import { type Running, startProgram } from "../platforms/_platform.js";
import { installOnDemand, IS_SLOW } from "../support/on-demand.js";

const FRAMEWORK = path.resolve(import.meta.dirname, "../..");
const ANYWHERE = path.resolve(import.meta.dirname, "../anywhere/app");

const CONFIG = (root: string) => `export default {
  serverExternalPackages: ["tsgi", "@tsgi/otel", "@tsgi/docs-ui"],
  skipTrailingSlashRedirect: true,
  turbopack: { root: ${JSON.stringify(root)} },
};
`;

const ROUTE = `import { App } from "tsgi";
import { createApp } from "../../../app.mjs";

const app = new App();
app.mount("/api", createApp({ files: process.env.FILES, pool: { kind: "inline" } }));

export const dynamic = "force-dynamic";
const { fetch } = app;
export { fetch as DELETE, fetch as GET, fetch as HEAD, fetch as OPTIONS, fetch as PATCH, fetch as POST, fetch as PUT };
`;

const LAYOUT = `export default ({ children }) => <html><body>{children}</body></html>;`;

const LACKS: Subject["lacks"] = {
  "client address": "Next.js does not pass the address to a route handler",
  compression: "Next.js removes Content-Encoding from the response of a route handler",
};

/** The bundler of Next.js does not follow links out of the project, so the packages are copied. */
function copyPackages(home: string): void {
  const modules = path.join(home, "node_modules");
  for (const [folder, name] of Object.entries({ core: "tsgi", otel: "@tsgi/otel", "docs-ui": "@tsgi/docs-ui" })) {
    const from = path.join(FRAMEWORK, folder);
    rmSync(path.join(modules, name), { recursive: true, force: true });
    cpSync(from, path.join(modules, name), {
      recursive: true,
      dereference: true,
      filter: (file) => !/^(?:src|test|build|node_modules)$/.test(path.relative(from, file)),
    });
  }
  for (const name of ["@opentelemetry", "@sinclair", "mrmime"]) {
    const from = path.join(FRAMEWORK, "../node_modules", name);
    if (existsSync(from)) cpSync(from, path.join(modules, name), { recursive: true, dereference: true });
  }
}

function writeProject(home: string): string {
  const project = path.join(home, "project");
  const files = {
    "package.json": '{ "type": "module", "private": true }',
    "next.config.mjs": CONFIG(home),
    "app/layout.js": LAYOUT,
    "app/api/[[...path]]/route.js": ROUTE,
  };
  rmSync(project, { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    writeFileSync(path.join(project, name), text);
  }
  cpSync(path.join(ANYWHERE, "app.mjs"), path.join(project, "app.mjs"));
  return project;
}

(IS_SLOW ? describe : describe.skip)("an App in Next.js 16 (skipped without TSGI_SLOW=1)", () => {
  let running: Running;
  beforeAll(async () => {
    const home = installOnDemand("host-next", ["next@16.4.6", "react@19.3.1", "react-dom@19.3.1"]);
    copyPackages(home);
    const project = writeProject(home);
    const next = path.join(home, "node_modules/next/dist/bin/next");
    const env = { NEXT_TELEMETRY_DISABLED: "1", FILES: path.join(ANYWHERE, "public") };
    execFileSync(process.execPath, [next, "build"], { cwd: project, env: { ...process.env, ...env }, stdio: "ignore" });
    running = await startProgram(
      [process.execPath, next, "start", "-p", "0", "-H", "127.0.0.1"],
      project,
      env,
      (line) => /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? null,
    );
  });
  afterAll(() => running.close());

  const checked = statements.filter(
    // Next.js adds its spans to a trace.
    (statement) => lackOf({ lacks: LACKS }, statement) === null && !statement.title.includes("OpenTelemetry"),
  );

  it.each(checked)("$title", async (statement) => {
    await expect(checkStatement({ url: `${running.url}/api` }, statement)).resolves.toBeUndefined();
  });
});
