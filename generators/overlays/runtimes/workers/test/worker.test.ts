import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { afterAll, beforeAll, expect, it } from "@jest/globals";

/** `wrangler dev` bundles the application and starts workerd. */
const wrangler = spawn(
  process.execPath,
  ["node_modules/wrangler/bin/wrangler.js", "dev", "--port=0", "--log-level=log"],
  {
    env: { ...process.env, CI: "1", WRANGLER_SEND_METRICS: "false" },
    stdio: ["ignore", "pipe", "inherit"],
  },
);
let url = "";

beforeAll(async () => {
  for await (const line of createInterface({ input: wrangler.stdout })) {
    url = /Ready on (http:\S+)/.exec(line)?.[1] ?? "";
    if (url !== "") return;
  }
  throw new Error("wrangler ended before it served");
}, 60_000);

afterAll(async () => {
  const ended = once(wrangler, "exit");
  if (wrangler.exitCode === null && wrangler.kill()) await ended;
});

it("serves the document of the application on workerd", async () => {
  const response = await fetch(`${url}/openapi.json`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
});
