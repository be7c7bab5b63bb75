/** The statements on `serve` in this process: what every other form of the application is compared with. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import path from "node:path";
import type { ASGIApp } from "tsgi";
import { type RunningServer, serve } from "tsgi/node";
import { KeptLog } from "../support/kept-log.js";
import { describeStatements } from "./_describe.js";
import { statements } from "./_statements.js";

const APP: string = "./app/app.mjs"; // not a literal, as JavaScript has no types here

describe("the statements", () => {
  let server: RunningServer;
  beforeAll(async () => {
    const { createApp } = (await import(APP)) as { createApp: (options: object) => ASGIApp };
    const options = { files: path.join(import.meta.dirname, "app/public"), pool: { kind: "inline" } };
    server = await serve(createApp(options), { port: 0, signals: false, logger: new KeptLog() });
  });
  afterAll(() => server.close());

  it("has at least 40 statements, each with its own title", () => {
    expect(new Set(statements.map(({ title }) => title)).size).toBe(statements.length);
    expect(statements.length).toBeGreaterThanOrEqual(40);
  });

  describeStatements("serve", () => server.url);
});
