import { readFile } from "node:fs/promises";

import { afterAll, expect, it } from "@jest/globals";

import { handler } from "../src/lambda.js";

afterAll(() => handler.close());

it("serves an event of API Gateway", async () => {
  const { statusCode, body } = await handler({
    version: "2.0",
    rawPath: "/openapi.json",
    requestContext: { http: { method: "GET" } },
  });
  expect([statusCode, JSON.parse(body)]).toEqual([200, expect.objectContaining({ paths: expect.anything() })]);
});

it("is the handler of template.yaml", async () => {
  const template = await readFile("template.yaml", "utf8");
  const { scripts } = JSON.parse(await readFile("package.json", "utf8"));
  expect(template).toMatch(/CodeUri: dist\/lambda\/\s+Handler: lambda\.handler/);
  expect(scripts.bundle).toContain("src/lambda.ts");
  expect(scripts.bundle).toContain("--outfile=dist/lambda/lambda.mjs");
});
