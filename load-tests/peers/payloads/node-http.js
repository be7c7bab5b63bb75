/** Larger answers, an upload and HTTPS on bare node:http, without any framework. @module */
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { announce } from "../http/announce.js";
import { countBytes, LARGE, scheme, SMALL, tls } from "./parts.js";

function handle(request, response) {
  switch (`${request.method} ${request.url}`) {
    case "GET /health":
      return answer(response, 200, { status: "ok" });
    case "GET /small":
      return answer(response, 200, { items: SMALL });
    case "GET /large":
      return answer(response, 200, { items: LARGE });
    case "POST /upload":
      return void countBytes(request).then((bytes) => answer(response, 200, { bytes }));
    default:
      return answer(response, 404, { detail: "Not Found" });
  }
}

function answer(response, status, content) {
  const body = JSON.stringify(content);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

const server = tls ? createSecureServer(tls, handle) : createServer(handle);
server.listen(0, "127.0.0.1", () => announce(server.address().port, scheme));
