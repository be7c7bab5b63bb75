import { describe, expect, it } from "@jest/globals";
import { compileHandler, Depends, ParamKind, Query, Request, t, withParams } from "../../src/index.js";

describe("ParamKind", () => {
  it("numbers the thirteen kinds from 0 to 12", () => {
    expect(ParamKind).toEqual({
      PATH: 0,
      QUERY: 1,
      HEADER: 2,
      COOKIE: 3,
      BODY: 4,
      FORM: 5,
      FILE: 6,
      DEPENDS: 7,
      REQUEST: 8,
      WEBSOCKET: 9,
      BACKGROUND: 10,
      RESPONSE: 11,
      SIGNAL: 12,
    });
    expect(Object.isFrozen(ParamKind)).toBe(true);
  });
});

describe("compileHandler", () => {
  it("returns one spec per parameter: name, kind, annotation, default and marker", () => {
    const limit = Query(t.Integer(), { default: 20 });
    const db = Depends(async () => "db");
    const id = t.Integer();
    const [specs] = compileHandler(async () => null, "/{id}", { id, limit, db, request: Request });
    expect(specs.map((spec) => Object.keys(spec))).toEqual(
      specs.map(() => ["name", "kind", "annotation", "default", "marker"]),
    );
    expect(specs.map(({ name, kind, default: value }) => [name, kind, value])).toEqual([
      ["id", ParamKind.PATH, undefined],
      ["limit", ParamKind.QUERY, 20],
      ["db", ParamKind.DEPENDS, undefined],
      ["request", ParamKind.REQUEST, undefined],
    ]);
    expect(specs[0]?.annotation).toBe(id);
    expect(specs[1]).toMatchObject({ annotation: limit, marker: limit });
    expect(specs[2]).toMatchObject({ annotation: db, marker: db });
    expect(specs[3]).toMatchObject({ annotation: Request, marker: null });
  });

  it("returns the default of a schema, of a parameter function, and null", () => {
    const [specs] = compileHandler(async () => null, "", {
      a: t.Integer({ default: 1 }),
      b: Query({ default: null }),
      c: t.Optional(t.String()),
      d: Query(t.Date(), { default: new Date(0) }),
    });
    expect(specs.map((spec) => spec.default)).toEqual([1, null, undefined, new Date(0)]);
  });

  it("distinguishes async functions and generators from other ones, even if they are bound", () => {
    const isAsync = (fn: () => unknown) => compileHandler(fn)[1];
    expect(isAsync(async () => null)).toBe(true);
    class Items {
      readonly list = async () => null;
      async find(): Promise<unknown> {
        return this.list();
      }
    }
    const items = new Items();
    expect(isAsync(items.find.bind(items))).toBe(true);
    expect(
      isAsync(async function* () {
        yield 1;
      }),
    ).toBe(true);
    expect(
      isAsync(function* () {
        yield 1;
      }),
    ).toBe(true);
    expect(isAsync(() => null)).toBe(false);
    expect(isAsync(() => Promise.resolve(null))).toBe(false);
  });

  it("uses the params of withParams if the route sets no params", () => {
    const fn = withParams({ n: t.Integer() }, async () => null);
    expect(compileHandler(fn)[0].map((spec) => spec.name)).toEqual(["n"]);
  });

  it("returns the same result for the same function, path and params, and a different one otherwise", () => {
    const fn = async () => null;
    const params = { n: t.Integer() };
    const first = compileHandler(fn, "/{n}", params);
    expect(compileHandler(fn, "/{n}", params)).toBe(first);
    expect(compileHandler(async () => null, "/{n}", params)).not.toBe(first);
    expect(compileHandler(fn, "/", params)).not.toBe(first);
    expect(compileHandler(fn, "/{n}", { n: t.Integer() })).not.toBe(first);
    expect(Object.isFrozen(first) && Object.isFrozen(first[0])).toBe(true);
  });

  it("remembers 512 results and drops the one that was used least recently", () => {
    const params = { n: t.Integer() };
    const fns = Array.from({ length: 512 }, () => async () => null);
    const results = fns.map((fn) => compileHandler(fn, "", params));
    expect(compileHandler(fns[0]!, "", params)).toBe(results[0]);
    compileHandler(async () => null, "", params); // drops the second, which is now the oldest
    expect(compileHandler(fns[0]!, "", params)).toBe(results[0]);
    expect(compileHandler(fns[511]!, "", params)).toBe(results[511]);
    expect(compileHandler(fns[1]!, "", params)).not.toBe(results[1]);
  });

  it("rejects values that are not functions", () => {
    expect(() => compileHandler(5 as never)).toThrow(/A handler should be a function, not a number/);
  });
});
