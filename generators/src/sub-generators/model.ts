import { join } from "node:path";
import { importPath, type ExistingProject } from "../code/existing-project.js";
import { SourceFile } from "../code/source-file.js";
import { CommandError, UsageError } from "../errors.js";
import { packageManagers } from "../options.js";
import { commandsOf } from "../package-manager.js";
import type { Values } from "../placeholders.js";
import { quoteName } from "../project-name.js";
import { parseFields, schemaOf, type Field } from "./model-fields.js";
import {
  createTable,
  migratedDatabases,
  nextMigration,
  renderModel,
  type MigratedDatabase,
  type NewModel,
} from "./model-sql.js";
import { articleOf, capital, pluralOf, readName, wordsOf } from "./names.js";
import { addField, readModels, readOtherNames } from "./prisma-schema.js";
import { includeRouter } from "./router.js";
import type { Change, SubGenerator } from "./sub-generator.js";
import { routeTestPath } from "./test-file.js";

const schemaPath = "prisma/schema.prisma";
const schemasPath = "src/models.ts";
const dependenciesPath = "src/dependencies.ts";
const migrationsPath = "prisma/migrations";

/** Names that the routes of a model import, declare or use. */
const usedByRoutes = new Set("Depends Promise Query Router".split(" "));

/** Adds a table with migrations, schemas, routes and a test to a project with a database. */
export const model: SubGenerator = {
  usage: "model <Name> <field:Type>…",
  help: "a Prisma model (in the template auth of the current user), its migrations, schemas, CRUD routes and test",
  example: "model Note title:String slug:String@unique body:String? due:DateTime?",
  parameters: [1, 40],
  plan(project, { parameters: [word = "", ...words], readCode }) {
    const names = readModelName(word);
    const fields = parseFields(words.length > 0 ? words : ["name:String"]);
    refuseWithoutDatabase(project);
    const schema = project.read(schemaPath);
    const models = readModels(schema);
    if ([...models.map(({ name }) => name), ...readOtherNames(schema)].includes(names.model)) {
      return { changes: [], notes: [`The model ${names.model} is in ${schemaPath} already.`] };
    }
    if (models.some(({ table }) => table === names.table)) {
      throw new CommandError(`${schemaPath} already has a table ${names.table}`);
    }
    const users = hasLogin(project) ? models.find(({ name }) => name === "User") : null;
    if (users === undefined) {
      throw new CommandError(`a model belongs to a user: the model User is missing in ${schemaPath}`);
    }
    const addition = { name: names.model, table: names.table, fields, users: users?.table ?? null };
    const routes = `src/routes/${names.path}.ts`;
    const test = routeTestPath(project, names.path);
    const values = valuesOf(names, addition, importPath(test, "test/support.ts"));
    const changes = [
      { path: schemaPath, text: extendSchema(schema, names, addition), isNew: false },
      ...migrations(project, schema, addition),
      schemas(project, addition, (t) => readCode("model-schemas", { ...values, ...schemaValues(fields, t) })),
      { path: routes, text: readCode("model-routes", values), isNew: true },
      ...includeRouter(project.app, names.router, routes),
      { path: test, text: readCode("model-test", values), isNew: true },
    ];
    const { test: testing } = commandsOf(
      packageManagers.find((name) => name === project.kept["packageManager"]) ?? "npm",
    );
    const start = "The next start makes the client and the table: restart the server if it runs.";
    const notes = project.has(routes)
      ? [
          start,
          `${routes} was there before and stays as it is: it has no routes for ${names.model}. To get them, rename it and ` +
            `${test}, and run this command again.`,
        ]
      : [`${start} ${testing} tests it.`];
    return { changes, notes };
  },
};

type ModelNames = ReturnType<typeof readModelName>;

/** The forms of a model's name: `BlogPost`, `blogPost`, `blog-posts`, `blogPosts`, `blog_posts` and `blog_post_id`. */
function readModelName(word: string) {
  const { kebab, camel, pascal } = readName(word, "model");
  if (word !== pascal) {
    throw new UsageError(`a model is written as ${pascal}, not ${quoteName(word)}`);
  }
  if (usedByRoutes.has(pascal)) {
    throw new UsageError(`${quoteName(word)} is a name that the routes of a model use: choose another name`);
  }
  const path = pluralOf(kebab);
  return {
    model: pascal,
    variable: camel,
    words: wordsOf(kebab),
    path,
    router: pluralOf(camel),
    table: path.replaceAll("-", "_"),
    parameter: `${kebab.replaceAll("-", "_")}_id`,
  };
}

/** The placeholders of the code of a model. */
function valuesOf(names: ModelNames, { fields, users }: NewModel, support: string): Values {
  const owned = users !== null;
  const unique = fields.filter(({ isUnique }) => isUnique);
  const text = fields.find(({ type, isOptional }) => type === "String" && !isOptional);
  const article = articleOf(names.words);
  const structs = [names.model, `${names.model}Changes`, `New${names.model}`];
  const example = (which: 0 | 1) => fields.map(({ name, facts }) => `${name}: ${facts.examples[which]}`).join(", ");
  return {
    ...names,
    support,
    owned,
    imports: `${owned ? "Depends, " : ""}HTTPException, Query, Response, Router, t`,
    structs: structs.toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)).join(", "),
    article,
    Article: capital(article),
    plural: names.path.replaceAll("-", " "),
    plurals: capital(names.router),
    account: owned ? "account: Depends(getCurrentAccount), " : "",
    accountName: owned ? "account, " : "",
    owner: owned ? "ownerId: account.id, " : "",
    ofUser: owned ? " of the user" : "",
    unique: unique.length > 0,
    uniqueName: unique[0]?.name ?? "",
    uniqueNames: unique.map(({ name }) => name).join(" or "),
    text: text !== undefined,
    textName: text?.name ?? "",
    first: example(0),
    second: example(1),
  };
}

/** The members of the schemas, with the local name of `t`. */
function schemaValues(fields: readonly Field[], t: string): Values {
  const members = (use: "new" | "changes" | "response") =>
    fields.map((field) => `    ${field.name}: ${schemaOf(field, use).replaceAll(/\bt\./g, `${t}.`)},`).join("\n");
  return { t, newFields: members("new"), changedFields: members("changes"), shownFields: members("response") };
}

/** True if the routes of the project can require the current user. */
function hasLogin(project: ExistingProject): boolean {
  return project.has(dependenciesPath) && project.read(dependenciesPath).includes("getCurrentAccount");
}

function refuseWithoutDatabase(project: ExistingProject): void {
  const needed = [schemaPath, schemasPath, "src/database.ts", migrationsPath];
  const missing = needed.find((path) => !project.has(path));
  if (missing !== undefined) {
    throw new CommandError(
      `a model needs a project with a database (create-tsgi my-app --template api --database sqlite): ${missing} is missing`,
    );
  }
}

/** Adds the model, and a list of its rows to the model of the users. */
function extendSchema(schema: string, { router, model: name }: ModelNames, addition: NewModel): string {
  const text = schema.trimEnd();
  const extended = addition.users === null ? text : addField(text, "User", [router, `${name}[]`]);
  return `${extended}\n\n${renderModel(addition)}`;
}

function migrations(project: ExistingProject, schema: string, addition: NewModel): Change[] {
  const folders = foldersOf(project, schema);
  if (folders.length === 0) {
    throw new CommandError(`a model needs the provider of SQLite or PostgreSQL in ${schemaPath}`);
  }
  const places = folders.map(({ folder }) => join(project.folder, folder));
  const migration = nextMigration(places, addition.name.toLowerCase());
  return folders.map(({ database, folder }) => ({
    path: `${folder}/${migration}/migration.sql`,
    text: createTable(database, addition),
    isNew: true,
  }));
}

/** The folder of migrations of each database: one below the other for several, else one for the provider of the schema. */
function foldersOf(project: ExistingProject, schema: string): { database: MigratedDatabase; folder: string }[] {
  const several = migratedDatabases
    .map((database) => ({ database, folder: `${migrationsPath}/${database}` }))
    .filter(({ folder }) => project.has(folder));
  const [, provider] = /^\s*datasource\s+\w+\s*\{[^}]*provider\s*=\s*"(\w+)"/m.exec(schema) ?? [];
  const database = migratedDatabases.find((name) => name === provider);
  return several.length > 0 || database === undefined ? several : [{ database, folder: migrationsPath }];
}

function schemas(project: ExistingProject, { name }: NewModel, render: (t: string) => string): Change {
  const file = new SourceFile(schemasPath, project.read(schemasPath));
  for (const schema of [name, `New${name}`, `${name}Changes`]) {
    if (file.declares(schema)) {
      throw new CommandError(`${schemasPath} already declares ${schema}: choose another name`);
    }
  }
  file.append(render(file.importName("tsgi", "t")).trimEnd());
  return { path: schemasPath, text: file.toString(), isNew: false };
}
