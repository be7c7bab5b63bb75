/** Values that may travel to another process or thread, and those that belong to one event loop. @module */
import { LoopError } from "./errors.js";
import { isKeptOnLoop } from "./host.js";

/** Built-in classes that structured clone copies completely, by their `Object.prototype.toString` names. */
const CLONED = new Set(
  ["Date", "RegExp", "Error", "ArrayBuffer", "Boolean", "Number", "String", "BigInt"].map((name) => `[object ${name}]`),
);

/**
 * Methods by which an open resource differs from data: a connection, a stream, a client, a server, a generator. Such an
 * object may consist only of data, and would arrive as a copy without behavior.
 */
const RESOURCE_METHODS: readonly (string | symbol)[] = [
  ..."close end destroy disconnect release terminate query execute on addEventListener".split(" "),
  ..."getReader getWriter pipe then next".split(" "),
  ...[Symbol.asyncIterator, Symbol.asyncDispose, Symbol.dispose].filter((symbol) => symbol !== undefined),
];

/** Makes the message for a part of a value that belongs to this loop: the path to it, and a description. */
export type Refuse = (path: string, what: string) => string;

/**
 * Checks a value that is passed to another event loop.
 *
 * @param name - The value's name in messages: a parameter's name.
 * @throws LoopError when something in it belongs to this loop.
 */
export function assertUnbound(value: unknown, name: string, refuse: Refuse): void {
  new Walk(name, refuse, false).detach(value);
}

/**
 * The result of a handler in the form in which it travels. An instance with a `toJSON` method becomes its result:
 * otherwise the transfer would lose its class, and the JSON form with it.
 *
 * @throws LoopError when something in it belongs to this loop.
 */
export function detachResult(value: unknown, refuse: Refuse): unknown {
  return new Walk("result", refuse, true).detach(value);
}

/** One walk through a value. It copies only where a member changes: most values are data all through. */
class Walk {
  /** The name of the value, then `.key` or `[index]`. */
  readonly #path: string[];
  readonly #refuse: Refuse;
  readonly #isResult: boolean;
  readonly #seen = new Set<object>();

  constructor(name: string, refuse: Refuse, isResult: boolean) {
    this.#path = [name];
    this.#refuse = refuse;
    this.#isResult = isResult;
  }

  detach(value: unknown): unknown {
    if (typeof value === "function") throw this.#bound(`the function ${value.name || "(anonymous)"}`);
    if (typeof value === "symbol") throw new TypeError(`${this.#path.join("")} is a symbol, which cannot be cloned.`);
    if (typeof value !== "object" || value === null || this.#seen.has(value)) return value;
    this.#seen.add(value);
    if (isKeptOnLoop(value)) throw this.#bound("the state of an application");
    return Array.isArray(value) || isPlain(value) ? this.#detachMembers(value) : this.#detachInstance(value);
  }

  #detachInstance(value: object): unknown {
    const tag = Object.prototype.toString.call(value);
    if (ArrayBuffer.isView(value) || CLONED.has(tag)) return value;
    if (tag === "[object Map]" || tag === "[object Set]") {
      // Checked, and left as they are: no result has them in its JSON.
      for (const member of value as Iterable<unknown>) this.#detachMember(".…", member);
      return value;
    }
    const { toJSON } = value as { toJSON?: unknown };
    if (this.#isResult && typeof toJSON === "function") return this.detach(toJSON.call(value, ""));
    const isOpen = RESOURCE_METHODS.some((method) => hasMethod(value, method));
    if (isOpen || (Object.keys(value).length === 0 && isClassWithMethods(value))) {
      throw this.#bound(describeInstance(value));
    }
    return this.#detachMembers(value);
  }

  #detachMembers(value: object): object {
    const isList = Array.isArray(value);
    let copy: object | null = null;
    for (const [key, member] of Object.entries(value) as [string, unknown][]) {
      const detached = this.#detachMember(isList ? `[${key}]` : `.${key}`, member);
      if (detached !== member) Reflect.set((copy ??= isList ? [...(value as unknown[])] : { ...value }), key, detached);
    }
    return copy ?? value;
  }

  #detachMember(key: string, member: unknown): unknown {
    if (typeof member !== "object" && typeof member !== "function" && typeof member !== "symbol") return member;
    this.#path.push(key);
    const detached = this.detach(member);
    this.#path.pop();
    return detached;
  }

  #bound(what: string): LoopError {
    return new LoopError(this.#refuse(this.#path.join(""), what));
  }
}

/** An object by its class, for a message: `a Socket`. */
export function describeInstance(object: object): string {
  const tag = Object.prototype.toString.call(object).slice("[object ".length, -1);
  const name = tag === "Object" ? object.constructor?.name || "object" : tag;
  return `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}

/** Tells if an object has no class: its prototype is the end of the chain, in any realm. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Tells if its class has more than the constructor. Without visible data, all its state is hidden. */
function isClassWithMethods(object: object): boolean {
  return Reflect.ownKeys(Object.getPrototypeOf(object) as object).length > 1;
}

/** Looks a method up without calling a getter. */
function hasMethod(object: object, name: string | symbol): boolean {
  for (let at: object | null = object; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const property = Object.getOwnPropertyDescriptor(at, name);
    if (property) return typeof property.value === "function";
  }
  return false;
}
