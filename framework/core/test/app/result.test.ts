import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "@jest/globals";
import { resultText } from "../../src/app/result.js";

describe("a result without `returns`", () => {
  it.each<[result: unknown, place: string]>([
    [{ user: Promise.resolve(1) }, "user"],
    [{ users: [{}, { name: Promise.resolve("Ada") }] }, "users.1.name"],
    [[Promise.resolve(1)], "0"],
  ])("is rejected if a promise in it was not awaited: %j", (result, place) => {
    const message = `The result of the handler has a promise at ${place}, which JSON writes as {}. Await it.`;
    expect(() => resultText(result)).toThrow(new TypeError(message));
  });

  it("handles the rejected promise, which would otherwise end the process", async () => {
    expect(() => resultText({ user: Promise.reject(new Error("no user")) })).toThrow("has a promise at user");
    await nextTurn();
  });

  it("cannot be an async iterable, even if it is an object literal with properties", () => {
    const stream = { id: 1, [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: 1 }) }) };
    expect(() => resultText(stream)).toThrow("A handler cannot return an async iterable");
  });

  it("may contain empty objects, repeated references and objects with toJSON()", () => {
    const empty = {};
    const circle = { toJSON: () => ({}), self: null as unknown };
    circle.self = circle;
    const result = { a: empty, b: [empty], c: circle, d: "{}", e: null };
    expect(resultText(result)).toBe('{"a":{},"b":[{}],"c":{},"d":"{}","e":null}');
  });
});
