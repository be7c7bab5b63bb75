import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, errorFormat, t } from "tsgi";
import type { OpenAPIDocument } from "tsgi/openapi";
import { writeClient } from "../src/client.js";
import { IS_SLOW, installOnDemand } from "../../test/support/on-demand.js";
import { compile, compilers } from "../../test/support/typescript.js";
import { createKitchenSink } from "../../core/test/openapi/_kitchen-sink.js";

const VERSIONS = ["3.0", "3.1", "3.2"] as const;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tsgi-client-types-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The types without the lines that make the client, so that they compile without its packages. */
async function typesOf(document: OpenAPIDocument): Promise<string> {
  const text = await writeClient(document, { out: path.join(folder, "api.ts") });
  return text.slice(text.indexOf("export interface paths"));
}

const PROGRAM = `
import type { components, operations, paths } from "./ours.js";
type User = components["schemas"]["User"];
export const user = (given: User): string | null => given.nickname;
export const wrong = (given: User): number =>
  // @ts-expect-error -- it is text or null
  given.nickname;
export type All = [paths, operations];
`;

describe("the types of a client", () => {
  it.each([
    ["shop~1user", "shop/user"],
    ["shop%20user", "shop user"],
    ["100%", "100%"],
  ])("refer to the component of #/components/schemas/%s", async (pointer, name) => {
    const document: OpenAPIDocument = {
      openapi: "3.1.1",
      info: { title: "Shop", version: "1" },
      servers: [],
      security: [],
      paths: {},
      components: {
        schemas: {
          [name]: { type: "object" },
          List: { type: "array", items: { $ref: `#/components/schemas/${pointer}` } },
        },
      },
    };
    expect(await typesOf(document)).toContain(`components["schemas"][${JSON.stringify(name)}][]`);
  });

  it.each(VERSIONS)("have the type of one line for a stream of OpenAPI %s", async (version) => {
    const app = new App({ openapiVersion: version });
    const Row = t.Object({ n: t.Integer() }, { $id: "Row" });
    app.get("/lines", { returns: Row }, async function* lines() {
      yield { n: 1 };
    });
    expect(await typesOf(app.openapi())).toContain('"application/jsonl": components["schemas"]["Row"];');
  });

  it.each(compilers)("compile with TypeScript %s, for a document of each version", async (_version, compiler) => {
    for (const version of VERSIONS) {
      const ours = await typesOf(createKitchenSink(version).openapi());
      expect(compile(compiler(), path.join(folder, "whole"), { "ours.ts": ours, "program.ts": PROGRAM })).toBe("");
    }
  });

  it("have the body of the option errorFormat for each error, and the status of validationStatus", async () => {
    const app = new App({
      errorFormat: errorFormat({
        schema: t.Object({ error: t.Object({ code: t.Integer() }) }, { title: "ErrorResponse" }),
        validationStatus: 400,
        write: ({ status }) => ({ error: { code: status } }),
      }),
    });
    app.get(
      "/items/{id}",
      { params: { id: t.Integer() }, responses: { 404: { description: "No such item" } } },
      async () => null,
    );
    const program = `
      import type { paths } from "./ours.js";
      type Responses = paths["/items/{id}"]["get"]["responses"];
      export const codesOf = (
        invalid: Responses[400]["content"]["application/json"],
        missing: Responses[404]["content"]["application/json"],
      ): number[] => [invalid.error.code, missing.error.code];
    `;
    const [, compiler] = compilers.at(-1) as (typeof compilers)[number];
    const files = { "ours.ts": await typesOf(app.openapi()), "program.ts": program };
    expect(compile(compiler(), path.join(folder, "errors"), files)).toBe("");
  });

  it("keep a description in its comment, for any text", async () => {
    const document = createKitchenSink().openapi();
    const [operation] = Object.values(Object.values(document.paths)[0] ?? {});
    if (operation) operation.summary = "*/ export const stolen = 1; /*\u2028 next";
    const ours = await typesOf(document);
    const program = `import * as ours from "./ours.js";\nexport const none: {} extends typeof ours ? 1 : 2 = 1;\n`;
    const [, path_] = compilers.at(-1) as (typeof compilers)[number];
    expect(compile(path_(), path.join(folder, "hostile"), { "ours.ts": ours, "program.ts": program })).toBe("");
    expect(ours).toContain("*\\/ export const stolen");
  });
});

const slowly = IS_SLOW ? describe : describe.skip;

slowly("the types of a client, compared with those that openapi-typescript writes", () => {
  /** Types are the same where each fits the other, in either direction and under any modifier. */
  const SAME = `
import type * as ours from "./ours.js";
import type * as theirs from "./theirs.js";
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Plain<T> = T extends (infer Item)[] ? Plain<Item>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
type Unlike<A, B> = { [K in keyof A | keyof B]: K extends keyof A & keyof B ? Equal<Plain<A[K]>, Plain<B[K]>> extends true ? never : K : K }[keyof A | keyof B];
export const schemas: [Unlike<ours.components["schemas"], theirs.components["schemas"]>] extends [never] ? 1 : Unlike<ours.components["schemas"], theirs.components["schemas"]> = 1;
export const operations: [Unlike<ours.operations, theirs.operations>] extends [never] ? 1 : Unlike<ours.operations, theirs.operations> = 1;
export const paths: [Unlike<ours.paths, theirs.paths>] extends [never] ? 1 : Unlike<ours.paths, theirs.paths> = 1;
`;

  const GENERATE = `
import { readFileSync } from "node:fs";
import generate, { astToString } from "openapi-typescript";
const ast = await generate(JSON.parse(readFileSync(process.argv[1], "utf8")), { defaultNonNullable: false });
process.stdout.write(astToString(ast));
`;

  it.each(["3.0", "3.1"] as const)("are equal for every schema and operation of OpenAPI %s", async (version) => {
    const home = installOnDemand("openapi-typescript", ["openapi-typescript@7.13.0", "typescript@5.9.3"]);
    const document = createKitchenSink(version).openapi();
    const file = path.join(folder, "openapi.json");
    // It does not read extensions.
    const items = (_key: string, value: unknown) =>
      typeof value === "object" && value && "x-itemSchema" in value ? { schema: value["x-itemSchema"] } : value;
    writeFileSync(file, JSON.stringify(document, items));
    const theirs = execFileSync(process.execPath, ["--input-type=module", "--eval", GENERATE, file], {
      cwd: home,
      encoding: "utf8",
    });
    const [, compiler] = compilers.at(-1) as (typeof compilers)[number];
    const ours = await typesOf(document);
    const files = { "ours.ts": ours, "theirs.ts": theirs, "same.ts": SAME };
    expect(compile(compiler(), path.join(folder, `same-${version}`), files)).toBe("");
  });
});
