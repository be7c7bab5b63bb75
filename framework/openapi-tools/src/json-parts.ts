/** Parts of a document of unknown origin, read without trust in their types. @module */

export type Json = Readonly<Record<string, unknown>>;

/** An object, or an empty one in the place of anything else. */
export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textsOf(value: unknown): string[] {
  return listOf(value).filter((item) => typeof item === "string");
}

/** The most references that lead to one another: a longer chain is a circle. */
const MAX_REFERENCES = 32;

/** Follows `$ref` within the document. Keywords next to it take precedence. */
export function resolve(value: unknown, document: Json): Json {
  let found = objectOf(value);
  for (let step = 0; typeof found["$ref"] === "string" && step < MAX_REFERENCES; step++) {
    const { $ref, ...beside } = found;
    found = { ...objectOf(at(document, $ref)), ...beside };
  }
  return found;
}

/** The value at a JSON pointer in a fragment (RFC 6901 §6); undefined for an address in another file. */
function at(document: Json, ref: unknown): unknown {
  if (typeof ref !== "string" || !ref.startsWith("#/")) return undefined;
  let node: unknown = document;
  for (const part of ref.slice(2).split("/")) {
    const key = pointerKey(part);
    node = Array.isArray(node)
      ? node[Number(key)]
      : Object.hasOwn(objectOf(node), key)
        ? objectOf(node)[key]
        : undefined;
  }
  return node;
}

/** The key in a part of a JSON pointer in a fragment (RFC 6901 §6). Some programs do not encode its `%`. */
export function pointerKey(part: string): string {
  return decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** JSON text that does not depend on the order of keys. */
export function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_key, member: unknown) =>
      typeof member === "object" && member !== null && !Array.isArray(member)
        ? Object.fromEntries(Object.entries(member).toSorted(([left], [right]) => (left < right ? -1 : 1)))
        : member,
    ) ?? "undefined"
  );
}
