/**
 * The optional parts of a template, in its code: a project without a part is the template without its lines.
 *
 *     app.includeRouter(liveItems); // with live
 *     // without live: this line is only in a project without the part
 *     // with live redis:
 *     these lines are only in a project with both parts
 *     // end live redis
 */
const line = /^(.*\S) +\/\/ with ([\w-]+(?: [\w-]+)*)$/;
const alternative = /^(\s*)\/\/ without ([\w-]+): (.*)$/;
const opening = /^\s*\/\/ with ([\w-]+(?: [\w-]+)*):$/;
const closing = /^\s*\/\/ end ([\w-]+(?: [\w-]+)*)$/;

/** Keeps the lines of the parts that a project has, without their marks. */
export function keepParts(text: string, has: (part: string) => boolean): string {
  const hasAll = (parts = "") => parts.split(" ").every(has);
  const open: string[] = [];
  const kept = text.split("\n").flatMap((original) => {
    const [, begun] = opening.exec(original) ?? [];
    const [, ended] = closing.exec(original) ?? [];
    if (begun !== undefined) {
      open.push(begun);
      return [];
    }
    if (ended !== undefined) {
      if (open.pop() !== ended) {
        throw new TypeError(`"end ${ended}" has no beginning`);
      }
      return [];
    }
    return open.every(hasAll) ? keepLine(original, hasAll) : [];
  });
  if (open.length > 0) {
    throw new TypeError(`"with ${open[0]}:" has no end`);
  }
  return kept
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .replace(/\n+$/, "\n");
}

function keepLine(original: string, hasAll: (parts?: string) => boolean): string[] {
  const [, indent = "", missing, other = ""] = alternative.exec(original) ?? [];
  if (missing !== undefined) {
    return hasAll(missing) ? [] : keepLine(indent + other, hasAll);
  }
  const [, code = original, parts] = line.exec(original) ?? [];
  return parts === undefined || hasAll(parts) ? [code] : [];
}
