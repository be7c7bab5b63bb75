import type { ModelShape } from "./model-code.js";
import { exampleOf, type Field } from "./model-fields.js";
import type { SchemaModel } from "./prisma-schema.js";

/** The place of a test, and the rows of other models that it needs. */
interface TestPlace {
  /** Its specifier for the module that opens the application. */
  support: string;
  models: readonly SchemaModel[];
}

/** A test of a model's routes with two users, each of whom sees their own rows only. */
export function renderModelTest(shape: ModelShape, place: TestPlace): string {
  const { names, fields } = shape;
  const { path, router, words } = names;
  return `import { describe, expect, it } from "@jest/globals";

import { openApp } from "${place.support}";

/** Two users, and valid bodies of one of them. */
async function open${capital(router)}() {
  const app = await openApp();
  const login = async (username: string) => {
    await app.register(username);
    const { token } = await app.login(username);
    return (method: "get" | "post" | "put" | "patch" | "delete", target: string) =>
      app.request[method](target).auth(token, { type: "bearer" });
  };
  const [alice, bob] = [await login("alice"), await login("bob")];
${renderFixtures(fields, place.models)}  const first = ${renderObject(fields, 0)};
  const second = ${renderObject(fields, 1)};
  return { ...app, alice, bob, first, second };
}

describe("/${path}", () => {
  it("wants a token", async () => {
    await using app = await open${capital(router)}();
    await app.request.get("/${path}").expect(401);
    await app.request.post("/${path}").send(app.first).expect(401);
  });

  it("adds, lists, reads, replaces, changes and removes a ${words}", async () => {
    await using app = await open${capital(router)}();
    const { alice, first, second } = app;
    const added = await alice("post", "/${path}").send(first).expect(201);
    const target = added.get("Location") ?? "";
    const id = Number(target.slice("/${path}/".length));
    const [shownFirst, shownSecond] = [${renderShown(fields, 0)}, ${renderShown(fields, 1)}];
    expect(added.body).toEqual(shownFirst);
    await alice("get", "/${path}?limit=1").expect(200, [shownFirst]);
    await alice("get", \`/${path}?after=\${id}\`).expect(200, []);
    await alice("get", target).expect(200, shownFirst);
    await alice("put", target).send(second).expect(200, shownSecond);
    await alice("patch", target).send({}).expect(200, shownSecond);
${renderPatch(fields)}    await alice("delete", target).expect(204);
    await alice("get", target).expect(404);
  });

  it("shows a ${words} to nobody but its user", async () => {
    await using app = await open${capital(router)}();
    const added = await app.alice("post", "/${path}").send(app.first).expect(201);
    const target = added.get("Location") ?? "";
    await app.bob("get", "/${path}").expect(200, []);
    await app.bob("get", target).expect(404);
    await app.bob("patch", target).send({}).expect(404);
    await app.bob("delete", target).expect(404);
    await app.alice("get", target).expect(200);
  });
${renderRefusals(shape)}});
`;
}

const capital = (text: string) => text.replace(/^[a-z]/, (letter) => letter.toUpperCase());

/** The rows that the model refers to. */
function renderFixtures(fields: readonly Field[], models: readonly SchemaModel[]): string {
  return fields
    .flatMap(({ name, relation }) => {
      if (relation === null) {
        return [];
      }
      const client = relation.model.replace(/^[A-Z]/, (letter) => letter.toLowerCase());
      const data = dataOf(relation.model, models);
      return [`  const { id: ${name} } = await app.db.${client}.create({ data: ${data} });\n`];
    })
    .join("");
}

/** Source text of the data for a row of another model. */
function dataOf(name: string, models: readonly SchemaModel[]): string {
  if (name === "User") {
    return '{ connect: { username: "alice" } }';
  }
  const fields = models.find((model) => model.name === name)?.fields ?? [];
  const keys = new Set(
    fields.flatMap(({ attributes }) => /fields: \[([^\]]*)\]/.exec(attributes)?.[1]?.split(/,\s*/) ?? []),
  );
  const members = fields
    .filter(({ isOptional, isList, attributes }) => !isOptional && !isList && !attributes.includes("@default"))
    .filter((field) => !keys.has(field.name))
    .map(({ name: field, type }) => {
      const example = exampleOf(type);
      const nested = type === "User" ? dataOf(type, models) : `{ create: ${dataOf(type, models)} }`;
      return `${field}: ${example ?? nested}`;
    });
  return `{ ${members.join(", ")} }`;
}

function renderObject(fields: readonly Field[], which: 0 | 1): string {
  const members = fields.map((field) =>
    field.relation === null ? `${field.name}: ${field.example(which)}` : field.name,
  );
  return `{ ${members.join(", ")} }`;
}

/** The response to a value that was sent. */
function renderShown(fields: readonly Field[], which: 0 | 1): string {
  const other = fields.flatMap((field) => {
    const shown = field.shown(which);
    return shown === null || shown === field.example(which) ? [] : [`${field.name}: ${shown}`];
  });
  return `{ ${["id", `...${which === 0 ? "first" : "second"}`, ...other].join(", ")} }`;
}

function renderPatch(fields: readonly Field[]): string {
  const field = fields.find(({ relation }) => relation === null);
  if (field === undefined) {
    return "";
  }
  const { name } = field;
  return `    await alice("patch", target)
      .send({ ${name}: first.${name} })
      .expect(200, { ...shownSecond, ${name}: shownFirst.${name} });
`;
}

function renderRefusals({ names: { path, router, words }, fields, isOwned }: ModelShape): string {
  const text = fields.find(({ type, isOptional }) => type === "String" && !isOptional);
  const unique = fields.find(({ isUnique, relation }) => isUnique && relation === null);
  const owned = fields.find(({ relation }) => relation !== null && isOwned(relation.model));
  const open = `await using app = await open${capital(router)}();`;
  const blank = `
  it.each(["", "  "])("refuses %j as ${text?.name}", async (${text?.name}) => {
    ${open}
    await app.alice("post", "/${path}").send({ ...app.first, ${text?.name} }).expect(422);
  });
`;
  const taken = `
  it("refuses a second ${words} of the user with the same ${unique?.name}", async () => {
    ${open}
    await app.alice("post", "/${path}").send(app.first).expect(201);
    await app.alice("post", "/${path}").send(app.first).expect(409);
    const other = await app.alice("post", "/${path}").send(app.second).expect(201);
    await app.alice("patch", other.get("Location") ?? "").send({ ${unique?.name}: app.first.${unique?.name} }).expect(409);
  });
`;
  const foreign = `
  it("refuses the ${owned?.relation?.field} of another user", async () => {
    ${open}
    await app.bob("post", "/${path}").send(app.first).expect(404);
  });
`;
  return [text ? blank : "", unique ? taken : "", owned ? foreign : ""].join("");
}
