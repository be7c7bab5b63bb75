import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ask } from "../../src/suite/ask.js";
import { type Case, faultOfReply } from "../../src/suite/case.js";

const upload: Case = {
  name: "an upload",
  method: "POST",
  path: "/upload",
  headers: { "x-one": "1" },
  body: "abc",
  status: 201,
  share: 1,
  isConstant: true,
  check: ({ body }) => (body === "POST /upload 1 abc" ? null : `got ${body}`),
};

let server: Server;
let url = "";

beforeAll(async () => {
  server = createServer((request, response) => {
    request.setEncoding("utf8");
    let body = "";
    request.on("data", (part: string) => (body += part));
    request.on("end", () => {
      response.writeHead(request.url === "/upload" ? 201 : 404);
      response.end(`${request.method} ${request.url} ${String(request.headers["x-one"])} ${body}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // An address of a socket, for the server does not listen on a path.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

describe("a case", () => {
  it("is sent with its method, path, headers and body, and its answer checked", async () => {
    expect(faultOfReply(upload, await ask(url, upload))).toBeNull();
  });

  it("names a wrong body, and a wrong status", async () => {
    const changed = { ...upload, body: "abcd" };
    expect(faultOfReply(changed, await ask(url, changed))).toBe("an upload: got POST /upload 1 abcd");
    const elsewhere = { ...upload, path: "/nowhere" };
    expect(faultOfReply(elsewhere, await ask(url, elsewhere))).toContain("expected the status 201, got 404");
  });
});
