import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it } from "@jest/globals";
import { TestClient } from "tsgi/testing";

import { app } from "../../src/app.js";

it("offers the routes with the option mcp as tools", async () => {
  await using server = await TestClient.open(app);
  const agent = new Client({ name: "agent", version: "1.0.0" });
  await agent.connect(new StreamableHTTPClientTransport(new URL("/mcp", server.url)));
  const { tools } = await agent.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["list_items", "add_item", "read_item", "remove_item"]);
  const added = await agent.callTool({ name: "add_item", arguments: { newItem: { name: "Pen", price: 1.5 } } });
  expect(added.structuredContent).toMatchObject({ name: "Pen", price: 1.5 });
  await agent.close();
});
