/** Applications below a path: another App, one of Hono, one on the protocol itself. @module */
import { Hono } from "hono";
import { App, Depends, HTTPException, Request, t } from "tsgi";
import { fromFetchHandler } from "tsgi/web";
import { getMember } from "./auth.js";
import { partnerErrors } from "./errors.js";
import { library } from "./library.js";
import { servedBy } from "./middleware.js";
import { Tool } from "./models.js";
import { clock } from "./raw.js";

/** The application for partners, with a separate document, errors and middleware. */
export function createPartner(): App {
  const partner = new App({
    title: "Partners",
    docsUrl: null,
    redocUrl: null,
    dependencies: [Depends(getMember)],
    middleware: [servedBy("partner")],
    errorFormat: partnerErrors,
    lifespan: async function* (app) {
      app.state["partner"] = "open";
      yield { partner: app.state["partner"] };
      app.state["partner"] = "closed";
    },
  });
  partner.get(
    "/tools",
    { params: { library, request: Request }, returns: t.Array(Tool) },
    async ({ library, request }) => {
      if (request.state["partner"] !== "open") throw new HTTPException(503);
      return [...library.tools.values()];
    },
  );
  partner.get("/missing", async () => {
    throw new HTTPException(404, "Nothing for partners");
  });
  partner.websocket("/news", async ({ ws }) => {
    await ws.accept();
    await ws.sendText(`${ws.scope.root_path} ${ws.scope.path}`);
  });
  return partner;
}

function createBlog(): Hono {
  const blog = new Hono().basePath("/blog");
  blog.get("/posts/:id", (context) =>
    context.json({ post: context.req.param("id"), q: context.req.query("q") ?? null }),
  );
  blog.post("/posts", async (context) =>
    context.text((await context.req.text()).toUpperCase(), 201, { "x-blog": "hono" }),
  );
  blog.get("/broken", () => {
    throw new Error("a secret of the blog");
  });
  blog.onError((error) => {
    throw error;
  });
  return blog;
}

/** Mounts them all. */
export function mountAll(app: App): void {
  app.mount("/partner", createPartner());
  app.mount("/blog", fromFetchHandler(createBlog().fetch));
  app.mount("/clock", clock);
}
