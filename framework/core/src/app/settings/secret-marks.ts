/** Marks of secrets on schemas, found again in whatever schema a library makes around a marked one. @module */

/** Survives the copies that TypeBox makes of a schema. */
const SECRET: unique symbol = Symbol("tsgi.secret");
/** Schemas of Zod, which are objects with an identity. */
const marked = new WeakSet<object>();

/** Marks a schema of TypeBox. */
export function markCopy<S extends object>(schema: S): S {
  return { ...schema, [SECRET]: true };
}

/** Marks a schema of Zod. */
export function markObject(schema: object): void {
  marked.add(schema);
}

/** The definition of a schema of Zod. */
interface Definition extends Readonly<Record<string, unknown>> {
  /** The schema of `z.lazy`. */
  readonly getter?: () => unknown;
}

/** A schema of Zod, as far as it is used here. Its parent is the schema that it is a copy of: `min(8)` and `describe` copy. */
interface ZodSchema {
  readonly _zod: { readonly def: Definition; readonly parent?: object };
}

/** The keywords of Zod that hold schemas. A default is not asked for: it may be a function of the application. */
const ZOD_PARTS = "shape innerType in out left right options element items keyType valueType".split(" ");

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Everything that a schema is made of, under whatever keyword. */
function partsOf(schema: object): object[] {
  if (!("_zod" in schema)) return Object.values(schema).filter(isObject);
  const {
    _zod: { def, parent },
  } = schema as ZodSchema;
  return [parent, def.getter?.(), ...ZOD_PARTS.map((name) => def[name])].filter(isObject);
}

/** A schema and everything inside it, each once: a schema may contain itself. */
function reachableFrom(schema: object, found = new Set<object>()): Set<object> {
  if (found.has(schema)) return found;
  found.add(schema);
  for (const part of partsOf(schema)) reachableFrom(part, found);
  return found;
}

const isMarked = (schema: object) => SECRET in schema || marked.has(schema);

/** The properties with a mark on their schema, or anywhere inside it: a mark that is lost would show the value. */
export function secretProperties(schema: object): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const part of reachableFrom(schema)) {
    const { properties, shape } = part as Readonly<Record<string, unknown>>;
    for (const [key, property] of Object.entries(properties ?? shape ?? {})) {
      if (isObject(property) && [...reachableFrom(property)].some(isMarked)) keys.add(key);
    }
  }
  return keys;
}
