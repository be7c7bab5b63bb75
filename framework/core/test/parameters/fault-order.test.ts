/** The errors of a request are in the order of its parameters, even with asynchronous schemas. */
import { expect, it } from "@jest/globals";
import { App, Body, Cookie, Depends, Form, Header, Path, Query, type Schema, t, withParams } from "../../src/index.js";
import type { StandardSchema } from "../../src/schema/standard.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import { describeSocketMatrix } from "../../../test/support/socket-matrix.js";

/** A schema that refuses everything: at once, or after so many turns of the event loop. */
function refusing(turns: number | null): Schema {
  if (turns === null) return t.String({ minLength: 100 });
  const validate = async () => {
    for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => void setImmediate(resolve));
    return { issues: [{ message: "refused" }] };
  };
  const schema: StandardSchema = { "~standard": { version: 1, vendor: "test", validate } };
  return schema;
}

type Make = (schema: Schema) => unknown;

/** A dependency with one parameter. */
const dependency = (name: string, marker: unknown) =>
  Depends(withParams({ [name]: marker } as never, async () => null));

const kinds: readonly [string, Make][] = [
  ["path", (schema) => Path(schema as never)],
  ["query", (schema) => Query(schema as never)],
  ["header", (schema) => Header(schema as never)],
  ["cookie", (schema) => Cookie(schema as never)],
];
const bodies: readonly [string, Make][] = [
  ["body", (schema) => Body(schema as never)],
  ["form", (schema) => Form(schema as never)],
];
/** The durations of the first and the second parameter. */
const speeds: readonly [string, number | null, number | null][] = [
  ["both at once", null, null],
  ["the first later", 2, null],
  ["the second later", null, 2],
  ["both later, the first last", 3, 1],
  ["both later, the second last", 1, 3],
];

describeMatrix("two invalid parameters", ({ call }) => {
  const target = "/x/y?a=x&b=y";
  const head = [
    ["a", "x"],
    ["b", "y"],
    ["cookie", "a=x; b=y"],
  ] as const;
  const json = { headers: [...head, ["content-type", "application/json"]] as const, text: '{"a":"x","b":"y"}' };
  const form = { headers: [...head, ["content-type", "application/x-www-form-urlencoded"]] as const, form: "a=x&b=y" };

  const create = (method: string, params: Record<string, unknown>) => {
    const app = new App();
    app.route("/{a}/{b}", { methods: [method], params: params as never }, async () => null);
    return app;
  };
  const placesOf = async (app: App, method: string, sent: object) => {
    const answer = await call(app, method, target, sent);
    expect(answer.status).toBe(422);
    return answer.faults.map(({ loc }) => loc.slice(0, 2).join("."));
  };

  const rows = kinds.flatMap(([kind, make]) =>
    ["GET", "POST"].flatMap((method) => speeds.map(([speed, ...turns]) => [kind, method, speed, make, turns] as const)),
  );

  it.each(rows)("as %s of a %s come in their order: %s", async (kind, method, _speed, make, [first, second]) => {
    const app = create(method, { a: make(refusing(first)), b: make(refusing(second)) });
    expect(await placesOf(app, method, { headers: head })).toEqual([`${kind}.a`, `${kind}.b`]);
    const reversed = create(method, { b: make(refusing(first)), a: make(refusing(second)) });
    expect(await placesOf(reversed, method, { headers: head })).toEqual([`${kind}.b`, `${kind}.a`]);
  });

  const withBody = rows.filter(([, method]) => method === "POST");
  it.each(withBody)(
    "as %s of a %s and a body are reported before it: %s",
    async (kind, method, _speed, make, turns) => {
      for (const [source, makeBody] of bodies) {
        const [first, second] = turns;
        const params = { a: make(refusing(first)), b: make(refusing(second)), c: makeBody(t.Integer()) };
        const sent = source === "body" ? json : form;
        const places = await placesOf(create(method, params), method, sent);
        expect(places.slice(0, 2)).toEqual([`${kind}.a`, `${kind}.b`]);
        expect(places.slice(2).every((place) => place.startsWith(source))).toBe(true);
      }
    },
  );

  it.each(speeds)("as members of a body and of a form come in their order: %s", async (_speed, first, second) => {
    for (const [source, makeBody] of bodies) {
      const params = { a: makeBody(refusing(first)), b: makeBody(refusing(second)) };
      const sent = source === "body" ? json : form;
      expect(await placesOf(create("POST", params), "POST", sent)).toEqual([`${source}.a`, `${source}.b`]);
    }
  });

  it.each(rows)(
    "as %s of a %s and of its dependencies come in their order: %s",
    async (kind, method, _, make, turns) => {
      const [first, second] = turns;
      const [one, two] = [dependency("a", make(refusing(first))), dependency("b", make(refusing(second)))];
      const inOrder = [`${kind}.a`, `${kind}.b`];
      const sent = { headers: head };
      expect(await placesOf(create(method, { one, two }), method, sent)).toEqual(inOrder);
      expect(await placesOf(create(method, { two, one }), method, sent)).toEqual(inOrder.toReversed());
      // The parameters of the head are read before the dependencies run.
      expect(await placesOf(create(method, { two, a: make(refusing(first)) }), method, sent)).toEqual(inOrder);
    },
  );

  it.each(speeds)("as members of a body of dependencies come in the order of these: %s", async (_, first, second) => {
    for (const [source, makeBody] of bodies) {
      const [one, two] = [dependency("a", makeBody(refusing(first))), dependency("b", makeBody(refusing(second)))];
      const sent = source === "body" ? json : form;
      const inOrder = [`${source}.a`, `${source}.b`];
      expect(await placesOf(create("POST", { one, two }), "POST", sent)).toEqual(inOrder);
      expect(await placesOf(create("POST", { two, one }), "POST", sent)).toEqual(inOrder.toReversed());
    }
  });

  it("are ordered too if an object's members and a parameter are of one kind", async () => {
    const members = t.Object({ b: t.Integer() });
    const app = create("GET", { a: Query(refusing(2) as never), rest: Query(members) });
    expect(await placesOf(app, "GET", {})).toEqual(["query.a", "query.b"]);
  });
});

describeSocketMatrix("two invalid parameters of a WebSocket route", ({ refused }) => {
  const headers = { a: "x", b: "y", cookie: "a=x; b=y" };

  async function placesOf(params: Record<string, unknown>): Promise<string[]> {
    const app = new App();
    app.websocket("/{a}/{b}", { params: params as never }, async () => {});
    const { statusCode, body } = await refused(app, "/x/y?a=x&b=y", { headers });
    expect(statusCode).toBe(422);
    const { detail } = JSON.parse(body) as { detail: { loc: string[] }[] };
    return detail.map(({ loc }) => loc.slice(0, 2).join("."));
  }

  const rows = kinds.flatMap(([kind, make]) => speeds.map(([speed, ...turns]) => [kind, speed, make, turns] as const));

  it.each(rows)("as %s come in their order: %s", async (kind, _speed, make, [first, second]) => {
    const [a, b] = [make(refusing(first)), make(refusing(second))];
    const inOrder = [`${kind}.a`, `${kind}.b`];
    expect(await placesOf({ a, b })).toEqual(inOrder);
    expect(await placesOf({ b, a })).toEqual(inOrder.toReversed());
  });

  it.each(rows)("as %s of its dependencies come in their order: %s", async (kind, _speed, make, [first, second]) => {
    const [one, two] = [dependency("a", make(refusing(first))), dependency("b", make(refusing(second)))];
    const inOrder = [`${kind}.a`, `${kind}.b`];
    expect(await placesOf({ one, two })).toEqual(inOrder);
    expect(await placesOf({ two, one })).toEqual(inOrder.toReversed());
    // The parameters of the head are read before the dependencies run.
    expect(await placesOf({ two, a: make(refusing(first)) })).toEqual(inOrder);
  });
});
