import { once } from "node:events";
import { request } from "node:https";
import { createServer, request as plainRequest } from "node:http";

import { describe, expect, it } from "@jest/globals";
import { App } from "tsgi";
import { toNodeHandler } from "tsgi/node";

import { startNginx, WITHOUT_NGINX } from "./support/nginx.js";

const describeNginx = WITHOUT_NGINX === null ? describe : describe.skip;

/** The spellings of a path that the router reads as `/metrics`. */
const SPELLINGS = ["/metrics", "/metrics/", "//metrics", "/metrics//", "/%6detrics", "/%6Detrics/?format=text"];

/** The status of a request whose target is sent as it is written. */
async function statusOf(send: typeof request, url: string, path: string, ca?: string): Promise<number | undefined> {
  const { hostname, port } = new URL(url);
  const [response] = await once(send({ hostname, port, path, ca, agent: false }).end(), "response");
  response.resume();
  return response.statusCode;
}

describeNginx(`nginx${WITHOUT_NGINX === null ? "" : ` (${WITHOUT_NGINX})`}`, () => {
  it("hides only /metrics, in every spelling that the application accepts for it", async () => {
    const app = new App();
    app.get("/metrics", async () => "figures");
    app.get("/metrics/tea", async () => "tea");
    const server = createServer(toNodeHandler(app)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    {
      await using nginx = await startNginx([port]);
      for (const path of SPELLINGS) {
        expect([path, await statusOf(plainRequest, `http://127.0.0.1:${port}`, path)]).toEqual([path, 200]);
        expect([path, await statusOf(request, nginx.url, path, nginx.certificate)]).toEqual([path, 404]);
      }
      expect(await statusOf(request, nginx.url, "/metrics/tea", nginx.certificate)).toBe(200);
    }
    await once(server.close(), "close");
  });
});
