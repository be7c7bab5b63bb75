/** WebSockets in the OpenAPI document, and as an AsyncAPI document. */
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "@jest/globals";
import { App, Depends, Header, Query, Router, t } from "tsgi";
import { buildAsyncAPI } from "../src/asyncapi.js";
import { APIKeyHeader, OAuth2PasswordBearer } from "tsgi/security";
import { installOnDemand, IS_SLOW } from "../../test/support/on-demand.js";

const Said = t.Object({ text: t.String(), at: t.Optional(t.Date()) }, { $id: "Said" });
const Told = t.Union([
  t.Object({ kind: t.Literal("text"), text: t.String() }, { $id: "TextTold" }),
  t.Object({ kind: t.Literal("end") }, { $id: "EndTold" }),
]);

/** An App with sockets of each kind. */
function chat(openapiVersion: "3.0" | "3.1" | "3.2" = "3.0") {
  const app = new App({
    openapiVersion,
    title: "Chat",
    version: "1.2.3",
    description: "Talk.",
    servers: [{ url: "https://chat.example/v1", description: "Production" }, { url: "/" }],
  });
  const oauth = new OAuth2PasswordBearer({ tokenUrl: "/token", scopes: { talk: "To talk" } });
  const key = new APIKeyHeader({ name: "x-key" });
  const router = new Router({ prefix: "/rooms", tags: ["rooms"] });
  router.websocket(
    "/{room}",
    {
      receives: Said,
      sends: Told,
      summary: "Talk in a room",
      description: "Each message goes to all.",
      params: { since: Query(t.Integer(), { default: 0 }), lang: Header(), user: Depends(oauth), key: Depends(key) },
    },
    async ({ ws }) => ws.accept(),
  );
  app.includeRouter(router);
  app.get("/rooms/{id}", async ({ id }) => id);
  app.websocket("/ticks", { sends: t.Integer(), operationId: "ticks" }, async ({ ws }) => ws.accept());
  app.websocket("/secret", { sends: t.Integer(), includeInSchema: false }, async ({ ws }) => ws.accept());
  app.websocket("/raw", async ({ ws }) => ws.accept());
  return app;
}

describe("x-websocket", () => {
  it("describes each WebSocket with schemas, next to the operations of its path", () => {
    const { paths, components, tags } = chat().openapi();
    const item = paths["/rooms/{room}"] ?? paths["/rooms/{id}"];
    expect(Object.keys(paths)).toEqual(["/rooms/{id}", "/ticks"]);
    expect(item?.get?.operationId).toBe("getRoomsById");
    expect(item?.["x-websocket"]).toMatchObject({
      tags: ["rooms"],
      summary: "Talk in a room",
      description: "Each message goes to all.",
      operationId: "websocketRoomsByRoom",
      parameters: [
        { name: "id", in: "path", required: true },
        { name: "since", in: "query", required: false },
        { name: "lang", in: "header", required: true },
      ],
      receives: { $ref: "#/components/schemas/Said" },
      sends: { anyOf: [{ $ref: "#/components/schemas/TextTold" }, { $ref: "#/components/schemas/EndTold" }] },
      security: [{ OAuth2PasswordBearer: [], APIKeyHeader: [] }],
    });
    expect(paths["/ticks"]).toEqual({
      "x-websocket": { summary: expect.any(String), operationId: "ticks", sends: { type: "integer" } },
    });
    expect(Object.keys(components?.schemas ?? {})).toEqual(expect.arrayContaining(["EndTold", "Said", "TextTold"]));
    expect(tags).toEqual([{ name: "rooms" }]);
  });

  it("is in the document once its route is added", () => {
    const app = new App();
    expect(app.openapi().paths).toEqual({});
    app.websocket("/ticks", { sends: t.Integer() }, async ({ ws }) => ws.accept());
    expect(Object.keys(app.openapi().paths)).toEqual(["/ticks"]);
  });

  it("is absent if no WebSocket has schemas", () => {
    const app = new App();
    app.websocket("/raw", async ({ ws }) => ws.accept());
    expect(app.openapi()).toEqual(new App().openapi());
  });
});

describe("the AsyncAPI document", () => {
  it("has a channel for each WebSocket, and an operation for each direction", () => {
    const document = buildAsyncAPI(chat());
    expect(document).toMatchObject({
      asyncapi: "3.0.0",
      info: { title: "Chat", version: "1.2.3", description: "Talk." },
      servers: { server1: { host: "chat.example", pathname: "/v1", protocol: "wss", description: "Production" } },
      defaultContentType: "application/json",
    });
    expect(Object.keys(document.channels)).toEqual(["websocketRoomsByRoom", "ticks"]);
    expect(document.channels["websocketRoomsByRoom"]).toEqual({
      address: "/rooms/{room}",
      summary: "Talk in a room",
      description: "Each message goes to all.",
      tags: [{ name: "rooms" }],
      parameters: { room: {} },
      messages: {
        received: {
          name: "websocketRoomsByRoomReceived",
          contentType: "application/json",
          payload: { $ref: "#/components/schemas/Said" },
        },
        sent: {
          name: "websocketRoomsByRoomSent",
          contentType: "application/json",
          payload: expect.objectContaining({
            anyOf: [{ $ref: "#/components/schemas/TextTold" }, { $ref: "#/components/schemas/EndTold" }],
          }),
        },
      },
      bindings: {
        ws: {
          method: "GET",
          query: { type: "object", properties: { since: { type: "integer", default: 0 } } },
          headers: { type: "object", properties: { lang: { type: "string" } }, required: ["lang"] },
          bindingVersion: "0.1.0",
        },
      },
    });
    const channel = { $ref: "#/channels/websocketRoomsByRoom" };
    const security = [
      { $ref: "#/components/securitySchemes/OAuth2PasswordBearer" },
      { $ref: "#/components/securitySchemes/APIKeyHeader" },
    ];
    expect(document.operations).toEqual({
      "websocketRoomsByRoom.receive": {
        action: "receive",
        channel,
        summary: "Talk in a room",
        messages: [{ $ref: "#/channels/websocketRoomsByRoom/messages/received" }],
        security,
      },
      "websocketRoomsByRoom.send": {
        action: "send",
        channel,
        summary: "Talk in a room",
        messages: [{ $ref: "#/channels/websocketRoomsByRoom/messages/sent" }],
        security,
      },
      "ticks.send": expect.objectContaining({ action: "send" }),
    });
    expect(document.components?.securitySchemes).toMatchObject({
      OAuth2PasswordBearer: {
        type: "oauth2",
        flows: { password: { tokenUrl: "https://chat.example/token", availableScopes: { talk: "To talk" } } },
      },
      APIKeyHeader: { type: "httpApiKey", in: "header", name: "x-key" },
    });
    expect(JSON.stringify(document)).not.toContain("discriminator");
  });

  it("is the same for any version of the OpenAPI document, and has no broken references", () => {
    const document = buildAsyncAPI(chat());
    expect(buildAsyncAPI(chat("3.2"))).toEqual(document);
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)].map(([, pointer = ""]) => pointer);
    for (const pointer of references) {
      const target = pointer
        .slice(1)
        .split("/")
        .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
      expect([pointer, target]).toEqual([pointer, expect.any(Object)]);
    }
    expect(references.length).toBeGreaterThan(5);
  });

  it("of no WebSocket has no channel", () => {
    const info = { title: "tsgi", version: "0.1.0" };
    const rest = { defaultContentType: "application/json", channels: {}, operations: {} };
    expect(buildAsyncAPI({}, [])).toEqual({ asyncapi: "3.0.0", info, ...rest });
  });
});

/** Events of a program, as `Jobs` of `@tsgi/jobs` lists them. */
const EVENTS = {
  events: [
    { name: "said", payload: Said, subscribers: ["said/mail", "said/search"] },
    { name: "rooms/closed", payload: t.String(), subscribers: [] },
    { name: "woken", payload: undefined, subscribers: [] },
  ],
};

describe("an event of the AsyncAPI document", () => {
  it("is a channel that the application sends to, and receives from once for each subscriber", () => {
    const { channels, operations, components } = buildAsyncAPI(chat(), EVENTS);
    expect(Object.keys(channels)).toEqual(["websocketRoomsByRoom", "ticks", "said", "rooms/closed", "woken"]);
    expect(channels["said"]).toEqual({
      address: "said",
      messages: {
        event: { name: "said", contentType: "application/json", payload: { $ref: "#/components/schemas/Said" } },
      },
    });
    expect(channels["rooms/closed"]?.messages).toMatchObject({ event: { payload: { type: "string" } } });
    expect(channels["woken"]?.messages).toMatchObject({ event: { payload: { type: "null" } } });
    const operation = { channel: { $ref: "#/channels/said" }, messages: [{ $ref: "#/channels/said/messages/event" }] };
    expect(operations).toMatchObject({
      "said.send": { action: "send", ...operation },
      "said/mail.receive": { action: "receive", ...operation },
      "said/search.receive": { action: "receive", ...operation },
      "rooms/closed.send": { action: "send", channel: { $ref: "#/channels/rooms~1closed" } },
    });
    expect(Object.keys(components?.schemas ?? {})).toContain("Said");
  });

  it("cannot have the operation id of a WebSocket", () => {
    const events = [{ name: "ticks", payload: undefined, subscribers: [] }];
    expect(() => buildAsyncAPI(chat(), { events })).toThrow(/ticks/);
  });
});

/** Prints the findings of the official parser about the document on standard input, from hints to errors. */
const PARSE = `
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
const { Parser } = createRequire(process.argv[1] + "/index.js")("@asyncapi/parser");
const { document, diagnostics } = await new Parser().parse(await text(process.stdin));
const said = diagnostics.map(({ severity, code, path }) => ({ severity, code, path: path.join(".") }));
console.log(JSON.stringify({ isRead: document !== undefined, said }));`;

(IS_SLOW ? describe : describe.skip)("@asyncapi/parser", () => {
  it("reads the document, and reports no error and no avoidable warning", () => {
    const home = installOnDemand("asyncapi", ["@asyncapi/parser@3.6.3"]);
    const input = JSON.stringify(buildAsyncAPI(chat(), EVENTS));
    const run = spawnSync(process.execPath, ["--input-type=module", "-e", PARSE, home], { input, encoding: "utf8" });
    const { isRead, said } = JSON.parse(run.stdout) as { isRead: boolean; said: { code: string }[] };
    expect(isRead).toBe(true);
    // A later version of AsyncAPI exists: the document follows 3.0.
    expect(said.filter(({ code }) => code !== "asyncapi-latest-version")).toEqual([]);
  });
});
