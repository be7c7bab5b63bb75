import { join } from "node:path";
import type { ExistingProject } from "../code/existing-project.js";
import { SourceFile } from "../code/source-file.js";
import { CommandError, UsageError } from "../errors.js";
import { packageManagers } from "../options.js";
import { commandsOf } from "../package-manager.js";
import { quoteName } from "../project-name.js";
import { parseFields, type Field } from "./model-fields.js";
import { renderModelRoutes, renderModelTest, type ModelNames } from "./model-code.js";
import { createTable, migratedDatabases, nextMigration, readSchema, renderModel } from "./model-sql.js";
import { pluralOf, readName } from "./names.js";
import { includeRouter } from "./router.js";
import type { Change, SubGenerator } from "./sub-generator.js";

const schemaPath = "prisma/schema.prisma";
const structsPath = "src/models.ts";
const migrationsPath = "prisma/migrations";

/** Writes a table with its migrations, structs, routes and a test, in a project of the template `auth`. */
export const model: SubGenerator = {
  usage: "model <Name> <field:Type>…",
  help: "a Prisma model, its migrations, structs, CRUD routes and test, in a project of the template auth",
  example: "model Note title:String body:String? pinned:Boolean due:DateTime?",
  parameters: [1, 40],
  plan(project, { parameters: [word = "", ...words] }) {
    const names = readModelName(word);
    const fields = parseFields(words.length > 0 ? words : ["name:String"]);
    refuseWithoutDatabase(project);
    const schema = project.read(schemaPath);
    const { models, tables } = readSchema(schema);
    if (models.includes(names.model)) {
      return { changes: [], notes: [`The model ${names.model} is in ${schemaPath} already.`] };
    }
    if (tables.includes(names.table)) {
      throw new CommandError(`${schemaPath} has a table ${names.table} already`);
    }
    const routes = `src/routes/${names.path}.ts`;
    const changes = [
      {
        path: schemaPath,
        text: `${schema.trimEnd()}\n\n${renderModel(names.model, names.table, fields)}`,
        isNew: false,
      },
      ...migrations(project, names, fields),
      structs(project, names, fields),
      { path: routes, text: renderModelRoutes(names), isNew: true },
      ...includeRouter(project, names.router, routes),
      { path: `test/${names.path}.test.ts`, text: renderModelTest(names, fields), isNew: true },
    ];
    const { test } = commandsOf(packageManagers.find((name) => name === project.kept["packageManager"]) ?? "npm");
    const notes = [`The next start makes the client and the table: start anew what runs. ${test} tests it.`];
    if (project.has(routes)) {
      notes.push(`${routes} was there before and stays as it is: it has no routes for ${names.model}.`);
    }
    return { changes, notes };
  },
};

function readModelName(word: string): ModelNames {
  const { kebab, camel, pascal } = readName(word, "model");
  if (word !== pascal) {
    throw new UsageError(`a model is written as ${pascal}, not ${quoteName(word)}`);
  }
  const path = pluralOf(kebab);
  return { model: pascal, variable: camel, path, router: pluralOf(camel), table: path.replaceAll("-", "_") };
}

function refuseWithoutDatabase(project: ExistingProject): void {
  const needed = [schemaPath, structsPath, ...migratedDatabases.map((database) => `${migrationsPath}/${database}`)];
  const missing = needed.filter((path) => !project.has(path));
  if (missing.length > 0) {
    throw new CommandError(`a model needs a project of the template auth: there is no ${missing[0]}`);
  }
}

function migrations(project: ExistingProject, { model: name, table }: ModelNames, fields: readonly Field[]): Change[] {
  const migration = nextMigration(join(project.folder, migrationsPath), name.toLowerCase());
  return migratedDatabases.map((database) => ({
    path: `${migrationsPath}/${database}/${migration}/migration.sql`,
    text: createTable(database, table, fields),
    isNew: true,
  }));
}

function structs(project: ExistingProject, { model: name }: ModelNames, fields: readonly Field[]): Change {
  const file = new SourceFile(structsPath, project.read(structsPath));
  for (const struct of [name, `New${name}`]) {
    if (file.declares(struct)) {
      throw new CommandError(`${structsPath} has something called ${struct} already: choose another name`);
    }
  }
  const t = file.importName("tsgi", "t");
  const members = fields.map((field) => `    ${field.name}: ${field.schema.replaceAll(/\bt\./g, `${t}.`)},`).join("\n");
  file.append(`/** What it takes to add a ${name}, or to change one. */
export const New${name} = ${t}.Object(
  {
${members}
  },
  { title: "New${name}" },
);

/** A ${name} as it is answered. */
export const ${name} = ${t}.Object(
  {
    id: ${t}.Integer(),
${members}
  },
  { title: "${name}" },
);`);
  return { path: structsPath, text: file.toString(), isNew: false };
}
