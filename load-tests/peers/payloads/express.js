/** Larger answers, an upload and HTTPS on Express. @module */
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { announce } from "../http/announce.js";
import { createApp } from "../http/express-routes.js";
import { countBytes, LARGE, scheme, SMALL, tls } from "./parts.js";

const app = createApp();
app.get("/health", (_request, response) => response.json({ status: "ok" }));
app.get("/small", (_request, response) => response.json({ items: SMALL }));
app.get("/large", (_request, response) => response.json({ items: LARGE }));
app.post("/upload", (request, response, next) => {
  void countBytes(request).then((bytes) => response.json({ bytes }), next);
});

const server = tls ? createSecureServer(tls, app) : createServer(app);
server.listen(0, "127.0.0.1", () => announce(server.address().port, scheme));
