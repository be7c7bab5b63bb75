import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

import type { OpenAPIDocument } from "../../src/openapi/types.js";
import { installOnDemand, IS_SLOW } from "../../../test/support/on-demand.js";
import { type RunningSample, startSample } from "../../../test/support/sample.js";

const run = promisify(execFile);

/** An exchange that Specmatic cannot make up: it takes a password, or a row that is there. */
interface Example {
  readonly "http-request": { method: string; path: string; [part: string]: unknown };
  readonly "http-response": { status: number; headers?: object; body?: unknown };
}

const JSON_TYPE = { "Content-Type": "application/json" };
const TOKEN = { status: 200, headers: JSON_TYPE, body: { access_token: "a token", token_type: "bearer" } };

/** Actions of the demo user that need more than the document describes. */
function examplesFor({ username, password }: RunningSample, cookie: string): Record<string, Example> {
  const login = { method: "POST", path: "/auth/token" };
  return {
    login: {
      "http-request": {
        ...login,
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
        "form-fields": { username, password },
      },
      "http-response": TOKEN,
    },
    "login-multipart": {
      "http-request": {
        ...login,
        headers: { "Content-Type": "multipart/form-data" },
        "multipart-formdata": [
          { name: "username", content: username },
          { name: "password", content: password },
        ],
      },
      "http-response": TOKEN,
    },
    refresh: {
      "http-request": { method: "POST", path: "/auth/refresh", headers: { Cookie: cookie } },
      "http-response": TOKEN,
    },
    add: {
      "http-request": { method: "POST", path: "/items", headers: JSON_TYPE, body: { name: "Pencil" } },
      "http-response": { status: 201, headers: JSON_TYPE, body: { id: 4, name: "Pencil", owner: username } },
    },
    item: {
      "http-request": { method: "GET", path: "/items/1" },
      "http-response": { status: 200, headers: JSON_TYPE, body: { id: 1, name: "Notebook", owner: username } },
    },
    "remove-item": {
      "http-request": { method: "DELETE", path: "/items/3" },
      "http-response": { status: 204 },
    },
  };
}

/**
 * The document as Specmatic can work with it. It does not support cookies: a header replaces them, and the refresh is
 * omitted. It would make up a new password, which the next test does not know. It waits for the end of a response, which an
 * event stream does not have. And it breaks a pattern by a `_` at its end, which the names of users and items may have.
 */
function adapt(document: OpenAPIDocument): OpenAPIDocument {
  for (const [route, item] of Object.entries(document.paths)) {
    const required = route === "/auth/refresh";
    for (const { parameters = [] } of Object.values(item)) {
      for (const parameter of parameters) {
        if (parameter.in === "cookie") Object.assign(parameter, { name: "Cookie", in: "header", required });
      }
    }
  }
  delete document.paths["/users/me/password"];
  delete document.paths["/items/live"];
  const { NewItem, NewUser } = document.components?.schemas ?? {};
  delete NewItem?.properties?.["name"]?.pattern;
  delete NewUser?.properties?.["username"]?.pattern;
  return document;
}

const slowly = IS_SLOW ? describe : describe.skip;

slowly("the sample application under Specmatic's generative tests", () => {
  let sample: RunningSample;
  let home: string;
  let folder: string;

  beforeAll(async () => {
    home = installOnDemand("specmatic", ["specmatic@2.55.1"]);
    folder = await mkdtemp(path.join(tmpdir(), "tsgi-specmatic-"));
    sample = await startSample();
  });

  afterAll(async () => {
    await sample?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it("responds to everything as documented", async () => {
    const { url, username, password } = sample;
    const login = await fetch(`${url}/auth/token`, {
      method: "POST",
      body: new URLSearchParams({ username, password }),
    });
    const { access_token: token } = (await login.json()) as { access_token: string };
    const cookie = login.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const document = adapt((await (await fetch(`${url}/openapi.json`)).json()) as OpenAPIDocument);
    await mkdir(path.join(folder, "examples"));
    await writeFile(path.join(folder, "openapi.json"), JSON.stringify(document));
    for (const [name, example] of Object.entries(examplesFor(sample, cookie))) {
      await writeFile(path.join(folder, "examples", `${name}.json`), JSON.stringify(example));
    }
    const jar = path.join(home, "node_modules/specmatic/specmatic.jar");
    const flags = ["-jar", jar, "test", "openapi.json", "--examples=examples", `--testBaseURL=${url}`];
    const { stdout } = await run("java", flags, {
      cwd: folder,
      // The scheme has the name of the variable that contains its token.
      env: { PATH: process.env["PATH"], SPECMATIC_GENERATIVE_TESTS: "true", OAuth2PasswordBearer: token },
      maxBuffer: 64 * 2 ** 20,
    }).catch((error: { stdout: string }) => error);
    const failures = stdout.slice(stdout.indexOf("Unsuccessful Scenarios:"));
    const summary = /Tests run: (\d+), Successes: (\d+), Failures: (\d+)/.exec(stdout);
    expect(stdout.includes("Unsuccessful Scenarios:") ? failures : "").toBe("");
    expect(Number(summary?.[1])).toBeGreaterThan(80);
    expect(summary?.[3]).toBe("0");
  });
});
