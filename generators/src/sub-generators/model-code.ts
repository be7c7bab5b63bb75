import type { Field } from "./model-fields.js";

/** The forms of a model's name. */
export interface ModelNames {
  /** `BlogPost` */
  model: string;
  /** `blogPost` */
  variable: string;
  /** `blog post`, `API key` */
  words: string;
  /** The article before its words, or before its name. */
  article: "a" | "an";
  /** `blog-posts` */
  path: string;
  /** `blogPosts` */
  router: string;
  /** `blog_posts` */
  table: string;
  /** `blog_post_id`, the parameter of its paths */
  parameter: string;
}

/** The parts of a model that its routes need. */
export interface ModelShape {
  names: ModelNames;
  fields: readonly Field[];
  /** True if each row belongs to the user who created it. */
  belongsToUser: boolean;
  /** True if each row of another model belongs to a user. */
  isOwned: (model: string) => boolean;
}

/** The routes that list, create, read, replace, update and delete rows of a model. */
export function renderModelRoutes(shape: ModelShape): string {
  const { model, words, path, router } = shape.names;
  const comment = shape.belongsToUser
    ? `The routes of the current user's rows. Another user's ${words} is 404.`
    : `The routes of ${path.replaceAll("-", " ")}.`;
  return `${renderImports(shape)}
/** ${comment} */
export const ${router} = new Router({ prefix: "/${path}", tags: ["${path}"] });

/** PostgreSQL's \`integer\`, the smaller of the two databases'. */
const ${model}Id = t.Integer({ minimum: 1, maximum: 2_147_483_647 });

const NOT_FOUND = { description: "Not Found", schema: t.Object({ detail: t.String() }, { title: "Problem" }) };
${renderHelpers(shape)}
${renderCollection(shape)}
${renderReading(shape)}
${renderWriting(shape, { verb: "put", summary: "Replace", struct: `New${model}` })}
${renderWriting(shape, { verb: "patch", summary: "Change", struct: `${model}Changes` })}
${renderRemoval(shape)}`;
}

/** Source text that restricts a route to the rows of the current user. */
function ownerOf({ belongsToUser }: ModelShape) {
  return belongsToUser
    ? {
        param: "account: Depends(getCurrentAccount), ",
        argument: "account, ",
        where: ", ownerId: account.id",
        words: " of the user",
      }
    : { param: "", argument: "", where: "", words: "" };
}

function renderImports({ names: { model }, fields, belongsToUser }: ModelShape): string {
  const hasRelations = fields.some(({ relation }) => relation !== null);
  const login = belongsToUser ? 'import { getCurrentAccount } from "../dependencies.js";\n' : "";
  const structs = [model, `${model}Changes`, `New${model}`].toSorted((a, b) =>
    a.toLowerCase() < b.toLowerCase() ? -1 : 1,
  );
  const prisma = hasUnique(fields) ? 'import { isUniqueViolation } from "@tsgi/prisma";\n' : "";
  return `import { ${belongsToUser ? "Depends, " : ""}HTTPException, Query, Response, Router, t } from "tsgi";
${prisma}
import { database${hasRelations ? ", type Database" : ""} } from "../database.js";
${login}import { ${structs.join(", ")} } from "../models.js";
`;
}

const hasUnique = (fields: readonly Field[]) => fields.some(({ isUnique }) => isUnique);
const hasMoments = (fields: readonly Field[]) => fields.some(({ isMoment }) => isMoment);

function renderHelpers(shape: ModelShape): string {
  const { names, fields, isOwned } = shape;
  const { words } = names;
  const owner = ownerOf(shape);
  const unique = fields.flatMap(({ isUnique, name }) => (isUnique ? [name] : []));
  const taken = `
const TAKEN = { description: "Another ${words}${owner.words} has the same ${unique.join(" or ")}" };

/** @throws HTTPException 409 when a write would make two rows${owner.words} alike */
async function unlessTaken<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    throw isUniqueViolation(error) ? new HTTPException(409, TAKEN.description) : error;
  }
}
`;
  const moment = `
/** A day is its midnight in UTC. */
function toDate<Value extends Date | string | null | undefined>(value: Value): Date | Extract<Value, null | undefined>;
function toDate(value: Date | string | null | undefined) {
  return typeof value === "string" ? new Date(value) : value;
}
`;
  const references = fields.flatMap(({ relation }) => (relation === null ? [] : [renderReference(relation, isOwned)]));
  return [...(hasUnique(fields) ? [taken] : []), ...(hasMoments(fields) ? [moment] : []), ...references].join("");
}

function renderReference({ field, model }: { field: string; model: string }, isOwned: ModelShape["isOwned"]): string {
  const [of, parameter, condition] = isOwned(model) ? [" of the user", ", ownerId: number", ", ownerId"] : ["", "", ""];
  return `
/** @throws HTTPException 404 for an unknown ${field}${of} */
async function check${capital(field)}(db: Database, id: number${parameter}): Promise<void> {
  if ((await db.${uncapital(model)}.count({ where: { id${condition} } })) === 0) {
    throw new HTTPException(404, "No such ${field}");
  }
}
`;
}

const capital = (text: string) => text.replace(/^[a-z]/, (letter) => letter.toUpperCase());
const uncapital = (text: string) => text.replace(/^[A-Z]/, (letter) => letter.toLowerCase());

/** The statements before a write. */
function renderChecks({ fields, isOwned }: ModelShape, { isPartial }: { isPartial: boolean }): string {
  return fields
    .flatMap(({ name, relation, isOptional }) => {
      if (relation === null) {
        return [];
      }
      const owner = isOwned(relation.model) ? ", account.id" : "";
      const call = `await check${capital(relation.field)}(db, data.${name}${owner});`;
      const absent = [...(isOptional ? ["null"] : []), ...(isPartial ? ["undefined"] : [])];
      const condition = absent.map((value) => `data.${name} !== ${value}`).join(" && ");
      return [condition === "" ? `    ${call}\n` : `    if (${condition}) {\n      ${call}\n    }\n`];
    })
    .join("");
}

/** The row that a write creates from \`data\`. */
function renderRow(fields: readonly Field[], ...more: string[]): string {
  const moments = fields.flatMap(({ name, isMoment }) => (isMoment ? [`${name}: toDate(data.${name})`] : []));
  return moments.length + more.length === 0 ? "data" : `data: { ${["...data", ...moments, ...more].join(", ")} }`;
}

function renderCollection(shape: ModelShape): string {
  const { model, variable, words, article, path, router } = shape.names;
  const isUnique = hasUnique(shape.fields);
  const owner = ownerOf(shape);
  const after = "after === null ? {} : { id: { gt: after } }";
  const [row, where] = shape.belongsToUser
    ? [renderRow(shape.fields, "ownerId: account.id"), `{ ownerId: account.id, ...(${after}) }`]
    : [renderRow(shape.fields), after];
  const create = `db.${variable}.create({ ${row} })`;
  return `${router}.get(
  "",
  {
    summary: "All ${path.replaceAll("-", " ")}${owner.words}, oldest first, a page at a time",
    params: {
      limit: Query(t.Integer({ minimum: 1, maximum: 100 }), { default: 50, description: "the largest number of rows" }),
      after: Query(${model}Id, { default: null, description: "the id of the last row of the previous page" }),
      ${owner.param}db: database,
    },
    returns: t.Array(${model}),
  },
  async ({ limit, after, ${owner.argument}db }) =>
    db.${variable}.findMany({
      where: ${where},
      orderBy: { id: "asc" },
      take: limit,
    }),
);

${router}.post(
  "",
  {
    summary: "Add ${article} ${words}",
    ${isUnique ? "responses: { 409: TAKEN },\n    " : ""}params: { data: New${model}, ${owner.param}db: database, response: Response },
    returns: ${model},
    statusCode: 201,
  },
  async ({ data, ${owner.argument}db, response }) => {
${renderChecks(shape, { isPartial: false })}    const ${variable} = await ${isUnique ? `unlessTaken(${create})` : create};
    response.headers.set("location", \`/${path}/\${${variable}.id}\`);
    return ${variable};
  },
);
`;
}

function renderReading(shape: ModelShape): string {
  const { model, variable, words, article, router, parameter } = shape.names;
  const owner = ownerOf(shape);
  return `${router}.get(
  "/{${parameter}}",
  {
    summary: "${capital(article)} ${words}${owner.words}",
    responses: { 404: NOT_FOUND },
    params: { ${parameter}: ${model}Id, ${owner.param}db: database },
    returns: ${model},
  },
  async ({ ${parameter}, ${owner.argument}db }) => {
    const ${variable} = await db.${variable}.findFirst({ where: { id: ${parameter}${owner.where} } });
    if (${variable} === null) {
      throw new HTTPException(404);
    }
    return ${variable};
  },
);
`;
}

/** `PUT` and `PATCH`, in one statement: a row that was deleted meanwhile is 404. */
function renderWriting(
  shape: ModelShape,
  { verb, summary, struct }: { verb: "put" | "patch"; summary: string; struct: string },
): string {
  const { model, variable, words, article, router, parameter } = shape.names;
  const isUnique = hasUnique(shape.fields);
  const owner = ownerOf(shape);
  const update = `db.${variable}.updateManyAndReturn({ where: { id: ${parameter}${owner.where} }, ${renderRow(shape.fields)} })`;
  return `${router}.${verb}(
  "/{${parameter}}",
  {
    summary: "${summary} ${article} ${words}",
    responses: { 404: NOT_FOUND${isUnique ? ", 409: TAKEN" : ""} },
    params: { ${parameter}: ${model}Id, data: ${struct}, ${owner.param}db: database },
    returns: ${model},
  },
  async ({ ${parameter}, data, ${owner.argument}db }) => {
${renderChecks(shape, { isPartial: verb === "patch" })}    const [${variable}] = await ${isUnique ? `unlessTaken(${update})` : update};
    if (${variable} === undefined) {
      throw new HTTPException(404);
    }
    return ${variable};
  },
);
`;
}

function renderRemoval(shape: ModelShape): string {
  const { model, variable, words, article, router, parameter } = shape.names;
  const owner = ownerOf(shape);
  return `${router}.delete(
  "/{${parameter}}",
  {
    summary: "Remove ${article} ${words}",
    responses: { 404: NOT_FOUND },
    params: { ${parameter}: ${model}Id, ${owner.param}db: database },
    statusCode: 204,
  },
  async ({ ${parameter}, ${owner.argument}db }) => {
    const { count } = await db.${variable}.deleteMany({ where: { id: ${parameter}${owner.where} } });
    if (count === 0) {
      throw new HTTPException(404);
    }
    return new Response(null, { statusCode: 204 });
  },
);
`;
}
