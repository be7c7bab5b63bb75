import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "@jest/globals";

import { openApp } from "./support.js";
import { forEachRow } from "./support/cases.js";
import { PASSWORD } from "./support/constants.js";

/** The application with a user who has one item, and agents that connect to it. */
async function openShop() {
  const app = await openApp();
  await app.register();
  await app.db.item.create({ data: { name: "pen", owner: { connect: { username: "alice" } } } });
  const login = async (scope: string) => {
    const fields = { username: "alice", password: PASSWORD, scope };
    return app.request.post("/auth/token").type("form").send(fields).expect(200);
  };
  return {
    ...app,
    login,
    /** An agent with a token of these scopes, or `null`. */
    connect: async (scope: string | null) => {
      const authorization = scope === null ? null : `Bearer ${(await login(scope)).body.access_token}`;
      const client = new Client({ name: "agent", version: "1.0.0" });
      const headers = new Headers(authorization === null ? [] : [["authorization", authorization]]);
      await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", app.url), { requestInit: { headers } }));
      return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
    },
  };
}

describe("an agent", () => {
  it("is offered the tools that the scopes of its token allow", async () => {
    await using shop = await openShop();
    await forEachRow(
      [
        [null, []],
        ["items:read", ["list_items", "read_item"]],
        ["items:write", ["add_item", "remove_item"]],
        ["items:read items:write", ["list_items", "add_item", "read_item", "remove_item"]],
        ["", ["who_am_i", "list_items", "add_item", "read_item", "remove_item"]],
      ],
      async (scope, names) => {
        await using agent = await shop.connect(scope);
        const { tools } = await agent.listTools();
        expect(tools.map(({ name }) => name)).toEqual(names);
      },
    );
  });

  it("reads, adds and removes the user's items", async () => {
    await using shop = await openShop();
    await using agent = await shop.connect("items:read items:write");
    const added = await agent.callTool({ name: "add_item", arguments: { newItem: { name: "book" } } });
    expect(added.structuredContent).toEqual({ id: 2, name: "book", owner: "alice" });
    await agent.callTool({ name: "remove_item", arguments: { item_id: 1 } });
    const { content } = await agent.callTool({ name: "list_items", arguments: { limit: 10 } });
    expect(content).toEqual([{ type: "text", text: '[{"id":2,"name":"book","owner":"alice"}]' }]);
    const gone = await agent.callTool({ name: "read_item", arguments: { item_id: 1 } });
    expect(gone).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/^404 Not Found/) }, {}] });
  });

  it("cannot do what its token is not for, whether it is offered or not", async () => {
    await using shop = await openShop();
    await using agent = await shop.connect("items:read");
    const refused = await agent.callTool({ name: "remove_item", arguments: { item_id: 1 } });
    expect(refused).toMatchObject({ isError: true, content: [{ text: "403 Forbidden: Not enough scopes" }, {}] });
    expect(await shop.db.item.count()).toBe(1);
  });
});

describe("a login that requests scopes", () => {
  it("returns a token that is valid only for these scopes, and no session", async () => {
    await using shop = await openShop();
    const { body, headers } = await shop.login("items:read unknown items:read");
    expect(body).toEqual({ access_token: expect.any(String), token_type: "bearer", scope: "items:read" });
    expect(headers["set-cookie"]).toBeUndefined();
    const bearer = ["authorization", `Bearer ${body.access_token}`] as const;
    await shop.request
      .get("/items")
      .set(...bearer)
      .expect(200);
    const added = await shop.request
      .post("/items")
      .set(...bearer)
      .send({ name: "book" })
      .expect(403);
    expect(added.get("WWW-Authenticate")).toBe('Bearer error="insufficient_scope", scope="items:write"');
    const me = await shop.request
      .get("/users/me")
      .set(...bearer)
      .expect(403);
    expect(me.get("WWW-Authenticate")).toBe('Bearer error="insufficient_scope"');
  });
});
