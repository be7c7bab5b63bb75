import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

import { installOnDemand, IS_SLOW } from "../../test/support/on-demand.js";
import { type RunningSample, startSample } from "../../test/support/sample.js";
import { callProgram } from "./_generated-client.js";

const run = promisify(execFile);

const PACKAGES = [
  "openapi-fetch@0.17.0",
  "@hey-api/openapi-ts@0.99.0",
  "@openapitools/openapi-generator-cli@1.0.18-4.3.1",
  "typescript@5.9.3",
  "@types/node@20.19.43",
];

/** The place of a generated client: the packages, the document's file, and the destination folder. */
interface Workplace {
  readonly home: string;
  readonly document: string;
  readonly out: string;
}

/** A generator, and a program for its client that logs in and returns the items. */
interface Generator {
  readonly generate: (place: Workplace) => Promise<unknown>;
  readonly program: string;
}

/** In a separate process, from the built package: the generator loads modules in a way that jest does not support. */
const WRITE_CLIENT = `
  import { readFile } from "node:fs/promises";
  import { writeClient } from "${path.resolve(import.meta.dirname, "../dist/index.js")}";
  const [document, out] = process.argv.slice(1);
  await writeClient(JSON.parse(await readFile(document, "utf8")), { out });
`;

const GENERATORS: Record<string, Generator> = {
  "writeClient and openapi-fetch": {
    generate: ({ document, out }) =>
      run(process.execPath, ["--input-type=module", "--eval", WRITE_CLIENT, document, path.join(out, "api.ts")]),
    program: `
      import { createClient } from "./api.js";

      export async function call([baseUrl = "", username = "", password = ""]: string[]) {
        const client = createClient({ baseUrl });
        const { data: token } = await client.POST("/auth/token", {
          body: { username, password },
          headers: { "Content-Type": "application/x-www-form-urlencoded" },
        });
        const { data: items } = await client.GET("/items", {
          headers: { Authorization: \`Bearer \${token?.access_token}\` },
        });
        // @ts-expect-error -- an item has no such field
        items?.[0]?.price;
        return items?.map(({ name, owner }): [string, string] => [name, owner]);
      }`,
  },
  "@hey-api/openapi-ts": {
    generate: ({ home, document, out }) =>
      run(process.execPath, [
        path.join(home, "node_modules/@hey-api/openapi-ts/bin/run.js"),
        "-i",
        document,
        "-o",
        out,
      ]),
    program: `
      import { client } from "./client.gen.js";
      import { getItems, postAuthToken } from "./sdk.gen.js";

      export async function call([baseUrl = "", username = "", password = ""]: string[]) {
        client.setConfig({ baseUrl });
        const { data: token } = await postAuthToken({ body: { username, password } });
        client.setConfig({ auth: () => token?.access_token });
        const { data: items } = await getItems();
        // @ts-expect-error -- an item has no such field
        items?.[0]?.price;
        return items?.map(({ name, owner }): [string, string] => [name, owner]);
      }`,
  },
  "openapi-generator 4.3.1": {
    generate: ({ home, document, out }) => {
      const jar = path.join(home, "node_modules/@openapitools/openapi-generator-cli/bin/openapi-generator.jar");
      const options = "--additional-properties=typescriptThreePlus=true";
      return run("java", ["-jar", jar, "generate", "-i", document, "-g", "typescript-fetch", "-o", out, options]);
    },
    program: `
      import { AuthApi, Configuration, ItemsApi } from "./index.js";

      export async function call([basePath = "", username = "", password = ""]: string[]) {
        const token = await new AuthApi(new Configuration({ basePath, fetchApi: fetch })).postAuthToken({ username, password });
        // This generator leaves the scheme of an OAuth token to its user.
        const accessToken = \`Bearer \${token.accessToken}\`;
        const items = await new ItemsApi(new Configuration({ basePath, fetchApi: fetch, accessToken })).getItems({});
        // @ts-expect-error -- an item has no such field
        items[0]?.price;
        return items.map(({ name, owner }): [string, string] => [name, owner]);
      }`,
  },
};

const slowly = IS_SLOW ? describe : describe.skip;

slowly("a client that is generated from the document of the sample application", () => {
  let sample: RunningSample;
  let home: string;
  let folder: string;

  beforeAll(async () => {
    home = installOnDemand("clients", PACKAGES);
    folder = await mkdtemp(path.join(home, "work-"));
    sample = await startSample();
    const response = await fetch(`${sample.url}/openapi.json`);
    await writeFile(path.join(folder, "openapi.json"), await response.text());
  });

  afterAll(async () => {
    await sample?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(Object.entries(GENERATORS))(
    "by %s compiles under strict, logs in and lists items",
    async (name, { generate, program }) => {
      const out = path.join(folder, name.replaceAll(/\W+/g, "-"));
      await mkdir(out);
      await generate({ home, document: path.join(folder, "openapi.json"), out });
      const { url, username, password } = sample;
      expect(await callProgram(home, out, program, url, username, password)).toEqual([
        ["Notebook", username],
        ["Fountain pen", username],
        ["Desk lamp", username],
      ]);
    },
  );

  it("is the one that the tests of the sample application use", async () => {
    const out = path.join(folder, "api.ts");
    const flags = ["--input-type=module", "--eval", WRITE_CLIENT, path.join(folder, "openapi.json"), out, home];
    await run(process.execPath, flags);
    const used = path.resolve(import.meta.dirname, "../../../sample-auth-app/test/repository/generated/api.ts");
    expect(await readFile(used, "utf8")).toBe(await readFile(out, "utf8"));
  });
});
