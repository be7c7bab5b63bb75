import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it } from "@jest/globals";

import { openApp } from "../support.js";

/** An agent with a token of the user. */
async function connect(url: string, token: string) {
  const client = new Client({ name: "agent", version: "1.0.0" });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit }));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

it("offers the routes with the option mcp as tools", async () => {
  await using app = await openApp();
  await app.register();
  const { token } = await app.login();
  await using agent = await connect(app.url, token);
  const { tools } = await agent.listTools();
  expect(tools.map(({ name }) => name)).toContain("who_am_i");
  const { structuredContent } = await agent.callTool({ name: "who_am_i", arguments: {} });
  expect(structuredContent).toMatchObject({ username: "alice" });
});
