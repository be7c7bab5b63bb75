import type { Database, TemplateName } from "./options.js";

/** The databases that a template can have, the default first. */
export function databasesOf(template: TemplateName): readonly Database[] {
  return { auth: ["sqlite", "postgresql"] as const, api: ["none", "sqlite", "postgresql"] as const, minimal: [] }[
    template
  ];
}

/** True for projects that use a database. */
export function hasDatabase({ template, database }: { template: TemplateName; database: Database }): boolean {
  return databasesOf(template).length > 0 && database !== "none";
}
