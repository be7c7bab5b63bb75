import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App } from "../../src/app/app.js";
import { HTTPException } from "../../src/common/exceptions.js";
import type { OpenAPIVersion } from "../../src/openapi/versions.js";
import { File } from "../../src/parameters/file.js";
import { Form } from "../../src/parameters/form.js";
import { t } from "../../src/schema/schema.js";
import { TestClient } from "../../src/platforms/testing/index.js";
import { binaryOf, installOnDemand, IS_SLOW } from "../../../test/support/on-demand.js";
import { callProgram, compile } from "../../../openapi-tools/test/_generated-client.js";
import { createKitchenSink } from "./_kitchen-sink.js";

const run = promisify(execFile);

const PACKAGES = [
  "openapi-typescript@7.13.0",
  "openapi-fetch@0.17.0",
  "@hey-api/openapi-ts@0.99.0",
  "orval@8.38.0",
  "typescript@5.9.3",
  "@types/node@20.19.43",
];

const Cat = t.Object({ kind: t.Literal("cat"), lives: t.Integer({ exclusiveMinimum: 0 }) }, { $id: "Cat" });
const Dog = t.Object({ kind: t.Literal("dog"), name: t.String() }, { $id: "Dog" });
const Pet = t.Union([Cat, Dog], { $id: "Pet" });
const Tree = t.Recursive((Self) => t.Object({ value: t.Number(), children: t.Array(Self) }), { $id: "Tree" });
const Item = t.Object(
  {
    id: t.Integer({ readOnly: true }),
    name: t.Union([t.String(), t.Null()]),
    point: t.Tuple([t.Number(), t.Number()]),
    size: t.Union([t.Literal("s"), t.Literal("m")], { default: "s" }),
  },
  { $id: "Item" },
);
const Problem = t.Object({ detail: t.String() }, { $id: "Problem" });

/** An application that a client calls. */
function createApp(openapiVersion: OpenAPIVersion): App {
  const app = new App({ title: "Shop", openapiVersion });
  app.post("/pets", { operationId: "addPet", params: { pet: Pet }, returns: Pet }, async ({ pet }) => pet);
  app.post("/trees", { operationId: "addTree", params: { tree: Tree }, returns: Tree }, async ({ tree }) => tree);
  app.get(
    "/items/{id}",
    {
      operationId: "readItem",
      params: { id: t.Integer(), size: t.Optional(t.Union([t.Literal("s"), t.Literal("m")])) },
      returns: Item,
      responses: { 404: { schema: Problem } },
    },
    async ({ id, size = "s" }) => {
      if (id === 0) throw new HTTPException(404, "No such item");
      return { id, name: null, point: [1, 2] as [number, number], size };
    },
  );
  app.post(
    "/photos",
    {
      operationId: "addPhoto",
      params: { title: Form(), photo: File() },
      returns: t.Object({ title: t.String(), size: t.Integer() }),
    },
    async ({ title, photo }) => ({ title, size: photo.size }),
  );
  app.webhooks.post("pet.added", { params: { pet: Pet } });
  return app;
}

/** The results of each program. */
const EXPECTED = [{ kind: "cat", lives: 9 }, 7, [null, 2, "m"], "No such item", { title: "Me", size: 3 }];

/** A place for a generator's output. */
interface Place {
  readonly home: string;
  readonly document: string;
  readonly out: string;
  readonly url: string;
}

interface Generator {
  readonly generate: (place: Place) => Promise<unknown>;
  /** Exports `call`, whose results are `EXPECTED`. */
  readonly program: string;
}

const node = (...args: string[]) => run(process.execPath, args);

const GENERATORS: Readonly<Record<string, Generator>> = {
  "openapi-typescript": {
    generate: ({ home, document, out }) =>
      node(path.join(home, "node_modules/openapi-typescript/bin/cli.js"), document, "-o", path.join(out, "api.ts")),
    program: `
      import createClient from "openapi-fetch";
      import type { components, paths } from "./api.js";
      export async function call([baseUrl = ""]: string[]) {
        const client = createClient<paths>({ baseUrl });
        const cat: components["schemas"]["Pet"] = { kind: "cat", lives: 9 };
        const { data: pet } = await client.POST("/pets", { body: cat });
        // @ts-expect-error -- a dog has no lives
        const dog: components["schemas"]["Pet"] = { kind: "dog", lives: 9 };
        const { data: tree } = await client.POST("/trees", { body: { value: 1, children: [{ value: 7, children: [] }] } });
        const { data: item } = await client.GET("/items/{id}", { params: { path: { id: 1 }, query: { size: "m" } } });
        const point: [number, number] | number[] | undefined = item?.point;
        const name: string | null | undefined = item?.name;
        const { error } = await client.GET("/items/{id}", { params: { path: { id: 0 } } });
        const { data: photo } = await client.POST("/photos", {
          body: { title: "Me", photo: "" },
          bodySerializer: () => {
            const form = new FormData();
            form.set("title", "Me");
            form.set("photo", new Blob(["abc"]), "a.png");
            return form;
          },
        });
        return [pet, tree?.children[0]?.value, [name, point?.[1], item?.size], error?.detail, photo];
      }`,
  },
  "hey-api": {
    generate: ({ home, document, out }) =>
      node(path.join(home, "node_modules/@hey-api/openapi-ts/bin/run.js"), "-i", document, "-o", out),
    program: `
      import { client } from "./client.gen.js";
      import { addPet, addPhoto, addTree, readItem } from "./sdk.gen.js";
      import type { Pet } from "./types.gen.js";
      export async function call([baseUrl = ""]: string[]) {
        client.setConfig({ baseUrl });
        const cat: Pet = { kind: "cat", lives: 9 };
        // @ts-expect-error -- a dog has no lives
        const dog: Pet = { kind: "dog", lives: 9 };
        const { data: pet } = await addPet({ body: cat });
        const { data: tree } = await addTree({ body: { value: 1, children: [{ value: 7, children: [] }] } });
        const { data: item } = await readItem({ path: { id: 1 }, query: { size: "m" } });
        const name: string | null | undefined = item?.name;
        const { error } = await readItem({ path: { id: 0 } });
        const { data: photo } = await addPhoto({ body: { title: "Me", photo: new File(["abc"], "a.png") } });
        return [pet, tree?.children[0]?.value, [name, item?.point[1], item?.size], error?.detail, photo];
      }`,
  },
  orval: {
    generate: async ({ home, document, out, url }) => {
      const output = { target: path.join(out, "api.ts"), client: "fetch", baseUrl: url };
      const config = path.join(out, "orval.config.cjs");
      await writeFile(config, `module.exports = ${JSON.stringify({ api: { input: document, output } })};`);
      // orval 8 requires Node 22.18.
      return run(binaryOf("node22"), [path.join(home, "node_modules/orval/dist/bin/orval.mjs"), "--config", config]);
    },
    program: `
      import { addPet, addPhoto, addTree, readItem, type Pet } from "./api.js";
      export async function call(_args: string[]) {
        const cat: Pet = { kind: "cat", lives: 9 };
        // @ts-expect-error -- a dog has no lives
        const dog: Pet = { kind: "dog", lives: 9 };
        const pet = await addPet(cat);
        const tree = await addTree({ value: 1, children: [{ value: 7, children: [] }] });
        const item = await readItem(1, { size: "m" });
        const missing = await readItem(0);
        const photo = await addPhoto({ title: "Me", photo: new Blob(["abc"]) });
        const found = item.status === 200 ? item.data : null;
        return [
          pet.data,
          tree.status === 200 ? tree.data.children[0]?.value : null,
          [found?.name, found?.point[1], found?.size],
          missing.status === 404 ? missing.data.detail : null,
          photo.data,
        ];
      }`,
  },
};

const VERSIONS = ["3.0", "3.1", "3.2"] as const;

const slowly = IS_SLOW ? describe : describe.skip;

slowly.each(VERSIONS)("a client that is generated from a document of OpenAPI %s", (version) => {
  let home: string;
  let folder: string;
  let client: TestClient;

  beforeAll(async () => {
    home = installOnDemand("document-clients", PACKAGES);
    folder = await mkdtemp(path.join(home, "work-"));
    const app = createApp(version);
    await writeFile(path.join(folder, "openapi.json"), JSON.stringify(app.openapi()));
    await writeFile(path.join(folder, "every-feature.json"), JSON.stringify(createKitchenSink(version).openapi()));
    client = await TestClient.open(app);
  });

  afterAll(async () => {
    await client?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(Object.entries(GENERATORS))(
    "by %s compiles under strict and calls the running application",
    async (name, { generate, program }) => {
      const out = path.join(folder, name);
      await mkdir(out);
      await generate({ home, document: path.join(folder, "openapi.json"), out, url: client.url });
      expect(await callProgram(home, out, program, client.url)).toEqual(EXPECTED);
    },
  );

  it.each(Object.entries(GENERATORS))(
    "by %s compiles for an application that uses every feature",
    async (name, { generate }) => {
      const out = path.join(folder, `every-${name}`);
      await mkdir(out);
      await generate({ home, document: path.join(folder, "every-feature.json"), out, url: client.url });
      expect(await compile(home, out)).toBe("");
    },
  );
});
