import { join } from "node:path";
import { importPath, type ExistingProject } from "../code/existing-project.js";
import { SourceFile } from "../code/source-file.js";
import { CommandError, UsageError } from "../errors.js";
import { packageManagers } from "../options.js";
import { commandsOf } from "../package-manager.js";
import { quoteName } from "../project-name.js";
import { renderModelRoutes, type ModelNames } from "./model-code.js";
import { MOMENT, parseFields, type Field } from "./model-fields.js";
import {
  createTable,
  migratedDatabases,
  nextMigration,
  renderModel,
  type MigratedDatabase,
  type NewModel,
} from "./model-sql.js";
import { renderModelTest } from "./model-test-code.js";
import { articleOf, pluralOf, readName, wordsOf } from "./names.js";
import { addField, readModels, readOtherNames, type SchemaModel } from "./prisma-schema.js";
import { includeRouter } from "./router.js";
import type { Change, SubGenerator } from "./sub-generator.js";
import { routeTestPath } from "./test-file.js";

const schemaPath = "prisma/schema.prisma";
const structsPath = "src/models.ts";
const dependenciesPath = "src/dependencies.ts";
const migrationsPath = "prisma/migrations";

/** Names that the routes of a model import, declare or use. */
const usedByRoutes = new Set("Data Database Date Db Depends Extract Moment Promise Query Router".split(" "));

/** Adds a table with migrations, structs, routes and a test to a project with a database. */
export const model: SubGenerator = {
  usage: "model <Name> <field:Type>…",
  help: "a Prisma model (in the template auth of the current user), its migrations, structs, CRUD routes and test",
  example: "model Note title:String slug:String@unique body:String? due:DateTime?",
  parameters: [1, 40],
  plan(project, { parameters: [word = "", ...words] }) {
    const names = readModelName(word);
    const schema = project.has(schemaPath) ? project.read(schemaPath) : "";
    const models = readModels(schema);
    const belongsToUser = hasLogin(project);
    const isKnown = (name: string) =>
      !(belongsToUser && name === "User") && models.some((known) => known.name === name);
    const fields = parseFields(words.length > 0 ? words : ["name:String"], isKnown);
    refuseWithoutDatabase(project, schema);
    if (belongsToUser && !models.some(({ name }) => name === "User")) {
      throw new CommandError(`a model belongs to a user: the model User is missing in ${schemaPath}`);
    }
    if ([...models.map(({ name }) => name), ...readOtherNames(schema)].includes(names.model)) {
      return { changes: [], notes: [`The model ${names.model} is in ${schemaPath} already.`] };
    }
    if (models.some(({ table }) => table === names.table)) {
      throw new CommandError(`${schemaPath} already has a table ${names.table}`);
    }
    const shape = { names, fields, belongsToUser, isOwned: (name: string) => hasOwner(models, name) };
    const addition = { names, fields, models, belongsToUser };
    const routes = `src/routes/${names.path}.ts`;
    const test = routeTestPath(project, names.path);
    const changes = [
      { path: schemaPath, text: extendSchema(schema, addition), isNew: false },
      ...migrations(project, foldersOf(project, schema), addition),
      structs(project, names, fields),
      { path: routes, text: renderModelRoutes(shape), isNew: true },
      ...includeRouter(project.app, names.router, routes),
      {
        path: test,
        text: renderModelTest(shape, { support: importPath(test, "test/support.ts"), models }),
        isNew: true,
      },
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

/** The models of the schema, and the additions. */
interface Addition {
  names: ModelNames;
  fields: readonly Field[];
  models: readonly SchemaModel[];
  belongsToUser: boolean;
}

function readModelName(word: string): ModelNames {
  const { kebab, camel, pascal } = readName(word, "model");
  if (word !== pascal) {
    throw new UsageError(`a model is written as ${pascal}, not ${quoteName(word)}`);
  }
  if (usedByRoutes.has(pascal)) {
    throw new UsageError(`${quoteName(word)} is a name that the routes of a model use: choose another name`);
  }
  const path = pluralOf(kebab);
  const words = wordsOf(kebab);
  return {
    model: pascal,
    variable: camel,
    words,
    article: articleOf(words),
    path,
    router: pluralOf(camel),
    table: path.replaceAll("-", "_"),
    parameter: `${kebab.replaceAll("-", "_")}_id`,
  };
}

/** True for models whose rows belong to a user, like the models of this generator. */
function hasOwner(models: readonly SchemaModel[], name: string): boolean {
  return models.find((known) => known.name === name)?.fields.some((field) => field.name === "ownerId") === true;
}

/** True if the routes of the project can require the current user. */
function hasLogin(project: ExistingProject): boolean {
  return project.has(dependenciesPath) && project.read(dependenciesPath).includes("getCurrentAccount");
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

function refuseWithoutDatabase(project: ExistingProject, schema: string): void {
  const needed = [schemaPath, structsPath, "src/database.ts", migrationsPath];
  const missing = needed.find((path) => !project.has(path));
  if (missing !== undefined) {
    throw new CommandError(
      `a model needs a project with a database (create-tsgi my-app --template api --database sqlite): ${missing} is missing`,
    );
  }
  if (foldersOf(project, schema).length === 0) {
    throw new CommandError(`a model needs the provider of SQLite or PostgreSQL in ${schemaPath}`);
  }
}

/** Adds the model, and a list of its rows to each model that it refers to. */
function extendSchema(schema: string, addition: Addition): string {
  const { names, fields, belongsToUser } = addition;
  const owners = [
    ...(belongsToUser ? ["User"] : []),
    ...fields.flatMap(({ relation }) => (relation === null ? [] : [relation.model])),
  ];
  if (new Set(owners).size < owners.length) {
    throw new UsageError("two fields refer to the same model: Prisma needs a name for each relation");
  }
  const field = [names.router, `${names.model}[]`] as const;
  const extended = owners.reduce((text, owner) => addField(text, owner, field), schema.trimEnd());
  return `${extended}\n\n${renderModel(toNewModel(addition))}`;
}

function toNewModel({ names, fields, models, belongsToUser }: Addition): NewModel {
  const tableOf = (name: string) => models.find((known) => known.name === name)?.table ?? name;
  return { name: names.model, table: names.table, fields, belongsToUser, tableOf };
}

function migrations(project: ExistingProject, folders: ReturnType<typeof foldersOf>, addition: Addition): Change[] {
  const places = folders.map(({ folder }) => join(project.folder, folder));
  const migration = nextMigration(places, addition.names.model.toLowerCase());
  return folders.map(({ database, folder }) => ({
    path: `${folder}/${migration}/migration.sql`,
    text: createTable(database, toNewModel(addition)),
    isNew: true,
  }));
}

function structs(project: ExistingProject, { model: name, article }: ModelNames, fields: readonly Field[]): Change {
  const file = new SourceFile(structsPath, project.read(structsPath));
  for (const struct of [name, `New${name}`, `${name}Changes`]) {
    if (file.declares(struct)) {
      throw new CommandError(`${structsPath} already declares ${struct}: choose another name`);
    }
  }
  const t = file.importName("tsgi", "t");
  const render = (use: "new" | "changes" | "answer") =>
    fields.map((field) => `    ${field.name}: ${field.schemaOf(use).replaceAll(/\bt\./g, `${t}.`)},`).join("\n");
  if (fields.some(({ isMoment }) => isMoment) && !file.declares(MOMENT)) {
    file.append(`/** A moment, or a day. */
const ${MOMENT} = ${t}.Union([${t}.Date(), ${t}.String({ format: "date" })]);`);
  }
  file.append(`/** What it takes to add ${article} ${name}, or to replace one. */
export const New${name} = ${t}.Object(
  {
${render("new")}
  },
  { title: "New${name}" },
);

/** The fields of ${article} ${name} to update. */
export const ${name}Changes = ${t}.Object(
  {
${render("changes")}
  },
  { title: "${name}Changes" },
);

/** ${article === "a" ? "A" : "An"} ${name} in responses. */
export const ${name} = ${t}.Object(
  {
    id: ${t}.Integer(),
${render("answer")}
  },
  { title: "${name}" },
);`);
  return { path: structsPath, text: file.toString(), isNew: false };
}
