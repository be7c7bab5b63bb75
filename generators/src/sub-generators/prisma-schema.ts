/** One model of Prisma's schema. */
export interface SchemaModel {
  name: string;
  table: string;
}

/** The models of a schema, with their tables. */
export function readModels(text: string): SchemaModel[] {
  return [...text.matchAll(/^[ \t]*model\s+(\w+)\s*\{\n([^]*?)^[ \t]*\}/gm)].map(([, name = "", body = ""]) => ({
    name,
    table: /^\s*@@map\("(\w+)"\)/m.exec(body)?.[1] ?? name,
  }));
}

/** The names of declarations other than models. */
export function readOtherNames(text: string): string[] {
  return Array.from(text.matchAll(/^[ \t]*(?:enum|type|view)\s+(\w+)\s*\{/gm), ([, name = ""]) => name);
}

/** Adds a line to a model, after its last field and aligned with it. */
export function addField(text: string, model: string, [name, type]: readonly [name: string, type: string]): string {
  return text.replace(new RegExp(`^[ \\t]*model\\s+${model}\\s*\\{\\n[^]*?^[ \\t]*\\}`, "m"), (block) => {
    const lines = block.split("\n");
    const last = lines.findLastIndex((line) => /^\s*\w+\s+\w+/.test(line) && !/^\s*model\s/.test(line));
    const width = /^\s*(\w+\s+)/.exec(lines[last] ?? "")?.[1]?.length ?? 0;
    return lines.toSpliced(last + 1, 0, `  ${`${name} `.padEnd(width)}${type}`).join("\n");
  });
}
