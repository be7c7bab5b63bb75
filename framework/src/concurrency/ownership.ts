/** The rule of one loop and one owner: what may travel to another process or thread, and what may not. @module */
import { LoopError } from "./errors.js";

/** Objects that belong to their loop though nothing of them shows it, as the state of an App. */
const owned = new WeakSet();

/** Says of an object that it belongs to this loop: handed to another one, it is refused. */
export function keepOnLoop(object: object): void {
  owned.add(object);
}

/** Built-in classes that structured clone copies whole, by what `Object.prototype.toString` calls them. */
const CLONED = new Set(
  ["Date", "RegExp", "Error", "ArrayBuffer", "Boolean", "Number", "String", "BigInt"].map((name) => `[object ${name}]`),
);

/**
 * Methods that tell something which is open from data: a connection, a stream, a client, a server, a generator. Such
 * an object may well consist of data alone, and would arrive as a copy that does nothing.
 */
const RESOURCE_METHODS: readonly (string | symbol)[] = [
  ..."close end destroy disconnect release terminate query execute on addEventListener".split(" "),
  ..."getReader getWriter pipe then next".split(" "),
  ...[Symbol.asyncIterator, Symbol.asyncDispose, Symbol.dispose].filter((symbol) => symbol !== undefined),
];

/** What is wrong with a value, as a message: the path to what belongs to this loop, and what that is. */
export type Refuse = (path: string, what: string) => string;

/**
 * Checks what is handed to another loop.
 *
 * @param name - What the value is called in messages: a parameter's name.
 * @throws LoopError when something in it belongs to this loop.
 */
export function assertUnbound(value: unknown, name: string, refuse: Refuse): void {
  new Walk(name, refuse, false).detach(value);
}

/**
 * The result of a handler in the form in which it travels. An instance with a `toJSON` of its own becomes what that
 * gives: its class would be lost on the way, and the JSON with it.
 *
 * @throws LoopError when something in it belongs to this loop.
 */
export function detachResult(value: unknown, refuse: Refuse): unknown {
  return new Walk("result", refuse, true).detach(value);
}

/** One walk through a value. It copies only where a member changes: most values are data all through. */
class Walk {
  readonly #path: (string | number)[];
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
    if (typeof value === "symbol") throw new TypeError(`${this.#place()} is a symbol, which cannot be cloned.`);
    if (typeof value !== "object" || value === null || this.#seen.has(value)) return value;
    this.#seen.add(value);
    if (owned.has(value)) throw this.#bound("the state of an application");
    return Array.isArray(value) ? this.#detachList(value) : this.#detachObject(value);
  }

  #detachObject(value: object): unknown {
    const tag = Object.prototype.toString.call(value);
    if (ArrayBuffer.isView(value) || CLONED.has(tag)) return value;
    if (tag === "[object Map]" || tag === "[object Set]") {
      // Looked at, and left as they are: no result has them in its JSON.
      for (const member of value as Iterable<unknown>) this.#detachMember("…", member);
      return value;
    }
    return isPlain(value) ? this.#detachFields(value) : this.#detachInstance(value);
  }

  #detachInstance(value: object): unknown {
    const { toJSON } = value as { toJSON?: unknown };
    if (this.#isResult && typeof toJSON === "function") return this.detach(toJSON.call(value, ""));
    const isOpen = RESOURCE_METHODS.some((method) => hasMethod(value, method));
    if (isOpen || (Object.keys(value).length === 0 && isClassWithMethods(value))) {
      throw this.#bound(describeInstance(value));
    }
    return this.#detachFields(value);
  }

  #detachList(list: readonly unknown[]): unknown {
    let copy: unknown[] | null = null;
    for (let index = 0; index < list.length; index++) {
      const member = list[index];
      const detached = this.#detachMember(index, member);
      if (detached !== member) (copy ??= [...list])[index] = detached;
    }
    return copy ?? list;
  }

  #detachFields(object: object): unknown {
    let copy: Record<string, unknown> | null = null;
    for (const [key, member] of Object.entries(object) as [string, unknown][]) {
      const detached = this.#detachMember(key, member);
      if (detached !== member) (copy ??= Object.fromEntries(Object.entries(object)))[key] = detached;
    }
    return copy ?? object;
  }

  #detachMember(key: string | number, member: unknown): unknown {
    if (typeof member !== "object" && typeof member !== "function" && typeof member !== "symbol") return member;
    this.#path.push(key);
    const detached = this.detach(member);
    this.#path.pop();
    return detached;
  }

  #place(): string {
    return this.#path
      .map((key, depth) => (depth === 0 ? key : typeof key === "number" ? `[${key}]` : `.${key}`))
      .join("");
  }

  #bound(what: string): LoopError {
    return new LoopError(this.#refuse(this.#place(), what));
  }
}

/** An object by its class, for a message: `a Socket`. */
export function describeInstance(object: object): string {
  const tag = Object.prototype.toString.call(object).slice("[object ".length, -1);
  const name = tag === "Object" ? object.constructor?.name || "object" : tag;
  return `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}

/** Whether an object has no class: its prototype is the end of the chain, in whichever realm it was made. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether there is more to its class than the constructor. Without data beside it, all that it knows is hidden. */
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
