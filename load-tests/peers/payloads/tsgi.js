/** Larger answers, an upload and HTTPS on tsgi. @module */
import { App, Request, t } from "tsgi";
import { serve } from "tsgi/node";
import { quietLogger } from "../../../load-tests/dist/http/quiet-logger.js";
import { announce } from "../http/announce.js";
import { countBytes, LARGE, scheme, SMALL, tls } from "./parts.js";

const Item = t.Object({
  id: t.Integer(),
  name: t.String(),
  email: t.String(),
  price: t.Number(),
  active: t.Boolean(),
});
const Items = t.Object({ items: t.Array(Item) });

const app = new App({ title: "Payloads" });
app.get("/health", async () => ({ status: "ok" }));
app.get("/small", { returns: Items }, async () => ({ items: SMALL }));
app.get("/large", { returns: Items }, async () => ({ items: LARGE }));
app.post("/upload", { params: { request: Request } }, async ({ request }) => ({
  bytes: await countBytes(request.stream()),
}));

const { url } = await serve(app, { port: 0, loop: "libuv", logger: quietLogger, ...(tls && { tls }) });
announce(new URL(url).port, scheme);
