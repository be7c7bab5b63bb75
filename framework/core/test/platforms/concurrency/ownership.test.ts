import { EventEmitter } from "node:events";
import { describe, expect, it } from "@jest/globals";

import { keepOnLoop } from "../../../src/platforms/concurrency/host.js";
import { assertUnbound, detachResult } from "../../../src/platforms/concurrency/ownership.js";

const refuse = (path: string, what: string) => `${path} is ${what}`;
const check = (value: unknown) => assertUnbound(value, "db", refuse);

class Data {
  constructor(readonly name: string) {}
  shout() {
    return this.name.toUpperCase();
  }
}
class Hidden {
  readonly #secret = 1;
  reveal() {
    return this.#secret;
  }
}
class Pool {
  readonly url = "postgres://";
  query() {
    return this.url;
  }
}
class Disposable {
  readonly name = "file";
  [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {}
}
class Empty {}

const kept = {};
keepOnLoop(kept);
const circle: { self?: unknown } = {};
circle.self = circle;

describe("a value that can be passed to another event loop", () => {
  it.each([
    ["primitives", [null, undefined, 1, "a", true, 5n]],
    ["plain objects and lists", { a: [{ b: 1 }] }],
    ["an object without prototype", Object.assign(Object.create(null) as object, { a: 1 })],
    ["dates, patterns, errors", [new Date(), /a/, new RangeError("a")]],
    ["maps and sets", [new Map([[{ a: 1 }, new Set([1])]])]],
    ["bytes", [new Uint8Array(2), Buffer.from("a"), new ArrayBuffer(1), new DataView(new ArrayBuffer(1))]],
    ["a circle", circle],
    ["an instance of a class with data and methods of its own", new Data("a")],
    ["an instance of a class without methods", new Empty()],
    ["names of prototypes as keys", JSON.parse('{"__proto__": {"then": 1}, "constructor": 1}')],
  ])("is data: %s", (_, value) => {
    expect(() => check(value)).not.toThrow();
    expect(detachResult(value, refuse)).toBe(value);
  });

  it.each([
    ["a function", () => 1, "db is the function "],
    ["a function inside", { a: { b: () => 1 } }, "db.a.b is the function b"],
    ["a class", Data, "db is the function Data"],
    ["what was kept", [kept], "db[0] is the state of an application"],
    ["a promise", { a: Promise.resolve() }, "db.a is a Promise"],
    ["a generator", [[1].values()], "db[0] is an Array Iterator"],
    ["an emitter", new EventEmitter(), "db is an EventEmitter"],
    ["a client with data that can be seen", { pool: new Pool() }, "db.pool is a Pool"],
    ["a class that hides what it knows", new Hidden(), "db is a Hidden"],
    ["a weak map", new WeakMap(), "db is a WeakMap"],
    ["a member of a map", new Map([["a", () => 1]]), "db.…[1] is the function "],
    ["an aborting signal", new AbortController().signal, "db is an AbortSignal"],
  ])("does not belong to this event loop: %s", (_, value, message) => {
    const error: unknown = expect.objectContaining({
      name: "LoopError",
      message: expect.stringContaining(`Task attached to a different loop. ${message}`),
    });
    expect(() => check(value)).toThrow(error);
    if (!message.includes("db is a Hidden")) expect(() => detachResult(value, refuse)).toThrow("Task attached");
  });

  it("is not a disposable object", () => {
    if (Symbol.dispose) expect(() => check(new Disposable())).toThrow("db is a Disposable");
    expect(() => check({ dispose: new Disposable() }.dispose.name)).not.toThrow();
  });

  it("is not a symbol, which belongs to no event loop", () => {
    expect(() => check({ a: Symbol("a") })).toThrow(new TypeError("db.a is a symbol, which cannot be cloned."));
  });

  it("does not call a getter of a class to look for methods", () => {
    class Interval {
      readonly from = 1;
      get end(): never {
        throw new Error("called");
      }
    }
    expect(() => check(new Interval())).not.toThrow();
  });
});

describe("a result on its way", () => {
  class Money {
    readonly #cents = 150;
    toJSON(key: string) {
      return { key, amount: this.#cents / 100 };
    }
  }

  it("contains the result of toJSON instead of its object, which is not modified", () => {
    const result = { list: [1, new Money()], same: { a: 1 }, url: new URL("http://a/b") };
    const detached = detachResult(result, refuse);
    expect(detached).toEqual({ list: [1, { key: "", amount: 1.5 }], same: { a: 1 }, url: "http://a/b" });
    expect((detached as typeof result).same).toBe(result.same);
    expect(result.list[1]).toBeInstanceOf(Money);
  });

  it("keeps names of prototypes as ordinary keys while it is copied", () => {
    const result = JSON.parse('{"__proto__": 1}') as Record<string, unknown>;
    result["money"] = new Money();
    const detached = detachResult(result, refuse) as object;
    expect(Object.keys(detached)).toEqual(["__proto__", "money"]);
    expect(Object.getPrototypeOf(detached)).toBe(Object.prototype);
  });

  it("is walked in linear time", () => {
    const deep = Array.from({ length: 500 }).reduce<object>((inner) => ({ inner, again: inner }), {});
    expect(() => detachResult(deep, refuse)).not.toThrow();
  });
});
