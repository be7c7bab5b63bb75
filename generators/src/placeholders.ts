/** The values of placeholders: a string replaces one, a boolean keeps or drops a section. */
export type Values = Readonly<Record<string, string | boolean>>;

/** A line that opens or closes a section, optionally in a comment of the file's language. */
const mark = /^\s*(?:#|\/\/)?\s*\{\{([#^/])(\w+)\}\}\s*$/;

/**
 * Fills the placeholders of a text.
 *
 * `{{name}}` becomes the value. The lines between `{{#docker}}` and `{{/docker}}` stay if `docker` is true, and the
 * lines between `{{^docker}}` and `{{/docker}}` if it is false. `{{ spaced }}` belongs to other tools and stays
 * (GitHub's `${{ matrix.node }}`).
 *
 * @throws TypeError for a placeholder without a value, and for a section that is not closed
 */
export function fillPlaceholders(text: string, values: Values): string {
  const lines: string[] = [];
  const open: { name: string; isKept: boolean }[] = [];
  for (const line of text.split("\n")) {
    const [, sign, name = ""] = mark.exec(line) ?? [];
    if (sign === undefined) {
      if (open.every(({ isKept }) => isKept)) {
        lines.push(fillLine(line, values));
      }
    } else if (sign !== "/") {
      open.push({ name, isKept: (valueOf(name, values) === true) === (sign === "#") });
    } else if (open.pop()?.name !== name) {
      throw new TypeError(`{{/${name}}} has no opening tag`);
    }
  }
  if (open.length > 0) {
    throw new TypeError(`{{#${open[0]?.name}}} is not closed`);
  }
  // Empty lines of a removed section stay.
  return lines
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .replace(/\n+$/, "\n");
}

function fillLine(line: string, values: Values): string {
  return line.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => String(valueOf(name, values)));
}

function valueOf(name: string, values: Values): string | boolean {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined) {
    throw new TypeError(`{{${name}}} has no value`);
  }
  return value;
}
