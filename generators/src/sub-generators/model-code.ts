import type { Field } from "./model-fields.js";

/** What a model is called in each place. */
export interface ModelNames {
  /** `BlogPost` */
  model: string;
  /** `blogPost` */
  variable: string;
  /** `blog-posts` */
  path: string;
  /** `blogPosts` */
  router: string;
  /** `blog_posts` */
  table: string;
}

/** The routes that list, add, read, change and remove what a model describes. */
export function renderModelRoutes({ model, variable, path, router }: ModelNames): string {
  return `import { Depends, HTTPException, Query, Response, Router, t } from "tsgi";

import { getCurrentAccount, getDb } from "../dependencies.js";
import { ${model}, New${model}, NOT_FOUND, UNAUTHORIZED } from "../models.js";

/** For every user who is logged in: they all see the same. */
export const ${router} = new Router({
  prefix: "/${path}",
  tags: ["${path}"],
  dependencies: [Depends(getCurrentAccount)],
  responses: { 401: UNAUTHORIZED },
});

/** PostgreSQL's \`integer\`. */
const Id = t.Integer({ minimum: 1, maximum: 2_147_483_647 });

${router}.get(
  "",
  {
    summary: "All of them, oldest first, a page at a time",
    params: {
      limit: Query(t.Integer({ minimum: 1, maximum: 100 }), { default: 50, description: "how many at most" }),
      after: Query(Id, { default: null, description: "the id of the last one of the page before" }),
      db: Depends(getDb),
    },
    returns: t.Array(${model}),
  },
  async ({ limit, after, db }) =>
    db.${variable}.findMany({
      where: after === null ? {} : { id: { gt: after } },
      orderBy: { id: "asc" },
      take: limit,
    }),
);

${router}.post(
  "",
  {
    summary: "Add one",
    params: { data: New${model}, db: Depends(getDb), response: Response },
    returns: ${model},
    statusCode: 201,
  },
  async ({ data, db, response }) => {
    const ${variable} = await db.${variable}.create({ data });
    response.headers.set("location", \`/${path}/\${${variable}.id}\`);
    return ${variable};
  },
);

${router}.get(
  "/{id}",
  {
    summary: "One of them",
    responses: { 404: NOT_FOUND },
    params: { id: Id, db: Depends(getDb) },
    returns: ${model},
  },
  async ({ id, db }) => {
    const ${variable} = await db.${variable}.findUnique({ where: { id } });
    if (${variable} === null) {
      throw new HTTPException(404);
    }
    return ${variable};
  },
);

${router}.put(
  "/{id}",
  {
    summary: "Change one",
    responses: { 404: NOT_FOUND },
    params: { id: Id, data: New${model}, db: Depends(getDb) },
    returns: ${model},
  },
  async ({ id, data, db }) => {
    const { count } = await db.${variable}.updateMany({ where: { id }, data });
    if (count === 0) {
      throw new HTTPException(404);
    }
    return { id, ...data };
  },
);

${router}.delete(
  "/{id}",
  {
    summary: "Remove one",
    responses: { 404: NOT_FOUND },
    params: { id: Id, db: Depends(getDb) },
    statusCode: 204,
  },
  async ({ id, db }) => {
    const { count } = await db.${variable}.deleteMany({ where: { id } });
    if (count === 0) {
      throw new HTTPException(404);
    }
    return new Response(null, { statusCode: 204 });
  },
);
`;
}

/** A test of these routes. */
export function renderModelTest({ path }: ModelNames, fields: readonly Field[]): string {
  const object = (which: 0 | 1) => `{ ${fields.map((field) => `${field.name}: ${field.example(which)}`).join(", ")} }`;
  return `import { expect, it } from "@jest/globals";

import { openApp } from "./support.js";

const first = ${object(0)};
const second = ${object(1)};

it("adds, lists, reads, changes and removes, for those who are logged in", async () => {
  await using app = await openApp();
  await app.request.get("/${path}").expect(401);
  await app.register();
  const { token } = await app.login();
  const as = (method: "get" | "post" | "put" | "delete", target: string) =>
    app.request[method](target).auth(token, { type: "bearer" });

  const added = await as("post", "/${path}").send(first).expect(201);
  expect(added.get("Location")).toBe("/${path}/1");
  await as("post", "/${path}").send({}).expect(${fields.every(({ isOptional }) => isOptional) ? 201 : 422});
  await as("get", "/${path}?limit=1").expect(200, [{ id: 1, ...first }]);
  await as("get", "/${path}/1").expect(200, { id: 1, ...first });
  await as("put", "/${path}/1").send(second).expect(200, { id: 1, ...second });
  await as("get", "/${path}/1").expect(200, { id: 1, ...second });
  await as("delete", "/${path}/1").expect(204);
  await as("get", "/${path}/1").expect(404);
  await as("delete", "/${path}/1").expect(404);
});
`;
}
