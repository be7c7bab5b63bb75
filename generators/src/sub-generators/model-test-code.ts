import type { ModelShape } from "./model-code.js";
import { exampleOf, type Field } from "./model-fields.js";
import type { SchemaModel } from "./prisma-schema.js";

/** The place of a test, and the rows of other models that it needs. */
interface TestPlace {
  /** Its specifier for the module that opens the application. */
  support: string;
  models: readonly SchemaModel[];
}

/** A test of a model's routes. If rows belong to users, there are two, each of whom sees only their own rows. */
export function renderModelTest(shape: ModelShape, place: TestPlace): string {
  const { names, fields, belongsToUser } = shape;
  const { path, router, words, article } = names;
  const caller = callerOf(shape);
  const asCaller = caller === "alice" ? "alice, bob" : caller;
  return `import { describe, expect, it } from "@jest/globals";

import { openApp } from "${place.support}";

${belongsToUser ? "/** Two users, and valid bodies of one of them. */" : "/** The application, and two valid bodies. */"}
async function open${capital(router)}() {
  const app = await openApp();
${belongsToUser ? LOGINS : SEND}${renderFixtures(shape, place.models)}  const first = ${renderObject(fields, 0)};
  const second = ${renderObject(fields, 1)};
  return { ...app, ${asCaller}, first, second };
}

describe("/${path}", () => {
${belongsToUser ? renderTokenTest(shape) : ""}  it("adds, lists, reads, replaces, changes and removes ${article} ${words}", async () => {
    await using app = await open${capital(router)}();
    const { ${caller}, first, second } = app;
    const added = await ${caller}("post", "/${path}").send(first).expect(201);
    const target = added.get("Location") ?? "";
    const id = Number(target.slice("/${path}/".length));
    const [shownFirst, shownSecond] = [${renderShown(fields, 0)}, ${renderShown(fields, 1)}];
    expect(added.body).toEqual(shownFirst);
    await ${caller}("get", "/${path}?limit=1").expect(200, [shownFirst]);
    await ${caller}("get", \`/${path}?after=\${id}\`).expect(200, []);
    await ${caller}("get", target).expect(200, shownFirst);
    await ${caller}("put", target).send(second).expect(200, shownSecond);
    await ${caller}("patch", target).send({}).expect(200, shownSecond);
${renderPatch(shape)}    await ${caller}("delete", target).expect(204);
    await ${caller}("get", target).expect(404);
  });
${belongsToUser ? renderStrangerTest(shape) : ""}${renderRefusals(shape)}});
`;
}

/** The function of a test that sends a request. */
const callerOf = ({ belongsToUser }: ModelShape) => (belongsToUser ? "alice" : "send");

const LOGINS = `  const login = async (username: string) => {
    await app.register(username);
    const { token } = await app.login(username);
    return (method: "get" | "post" | "put" | "patch" | "delete", target: string) =>
      app.request[method](target).auth(token, { type: "bearer" });
  };
  const [alice, bob] = [await login("alice"), await login("bob")];
`;

const SEND = `  const send = (method: "get" | "post" | "put" | "patch" | "delete", target: string) => app.request[method](target);
`;

function renderTokenTest({ names: { path, router } }: ModelShape): string {
  return `  it("wants a token", async () => {
    await using app = await open${capital(router)}();
    await app.request.get("/${path}").expect(401);
    await app.request.post("/${path}").send(app.first).expect(401);
  });

`;
}

function renderStrangerTest({ names: { path, router, words, article } }: ModelShape): string {
  return `
  it("shows ${article} ${words} only to its user", async () => {
    await using app = await open${capital(router)}();
    const added = await app.alice("post", "/${path}").send(app.first).expect(201);
    const target = added.get("Location") ?? "";
    await app.bob("get", "/${path}").expect(200, []);
    await app.bob("get", target).expect(404);
    await app.bob("patch", target).send({}).expect(404);
    await app.bob("delete", target).expect(404);
    await app.alice("get", target).expect(200);
  });
`;
}

const capital = (text: string) => text.replace(/^[a-z]/, (letter) => letter.toUpperCase());

/** The rows that the model refers to. */
function renderFixtures({ fields, belongsToUser }: ModelShape, models: readonly SchemaModel[]): string {
  return fields
    .flatMap(({ name, relation }) => {
      if (relation === null) {
        return [];
      }
      const client = relation.model.replace(/^[A-Z]/, (letter) => letter.toLowerCase());
      const data = dataOf(relation.model, models, belongsToUser);
      return [`  const { id: ${name} } = await app.db.${client}.create({ data: ${data} });\n`];
    })
    .join("");
}

/** Source text of the data for a row of another model. */
function dataOf(name: string, models: readonly SchemaModel[], hasLogin: boolean): string {
  if (hasLogin && name === "User") {
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
      const data = dataOf(type, models, hasLogin);
      const nested = hasLogin && type === "User" ? data : `{ create: ${data} }`;
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

function renderPatch(shape: ModelShape): string {
  const { fields } = shape;
  const field = fields.find(({ relation }) => relation === null);
  if (field === undefined) {
    return "";
  }
  const { name } = field;
  return `    await ${callerOf(shape)}("patch", target)
      .send({ ${name}: first.${name} })
      .expect(200, { ...shownSecond, ${name}: shownFirst.${name} });
`;
}

function renderRefusals(shape: ModelShape): string {
  const { names, fields, isOwned } = shape;
  const { path, router } = names;
  const caller = callerOf(shape);
  const text = fields.find(({ type, isOptional }) => type === "String" && !isOptional);
  const unique = fields.find(({ isUnique, relation }) => isUnique && relation === null);
  const owned = fields.find(({ relation }) => relation !== null && isOwned(relation.model));
  const open = `await using app = await open${capital(router)}();`;
  const blank = `
  it.each(["", "  "])("refuses %j as ${text?.name}", async (${text?.name}) => {
    ${open}
    await app.${caller}("post", "/${path}").send({ ...app.first, ${text?.name} }).expect(422);
  });
`;
  const foreign = `
  it("refuses the ${owned?.relation?.field} of another user", async () => {
    ${open}
    await app.bob("post", "/${path}").send(app.first).expect(404);
  });
`;
  return [text ? blank : "", unique ? renderTakenTest(shape, unique.name) : "", owned ? foreign : ""].join("");
}

function renderTakenTest(shape: ModelShape, field: string): string {
  const { path, router, words } = shape.names;
  const caller = callerOf(shape);
  return `
  it("refuses a second ${words}${shape.belongsToUser ? " of the user" : ""} with the same ${field}", async () => {
    await using app = await open${capital(router)}();
    await app.${caller}("post", "/${path}").send(app.first).expect(201);
    await app.${caller}("post", "/${path}").send(app.first).expect(409);
    const other = await app.${caller}("post", "/${path}").send(app.second).expect(201);
    await app.${caller}("patch", other.get("Location") ?? "").send({ ${field}: app.first.${field} }).expect(409);
  });
`;
}
