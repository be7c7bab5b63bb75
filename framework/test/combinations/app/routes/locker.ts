/** The locker of a member: what another browser or machine may not take over. @module */
import { Request, Router, t } from "tsgi";
import { clearSession, renewSession, sessionOf, type SessionsOptions, sessions, type Store } from "tsgi/middleware";
import { createStore, once } from "../middleware.js";

/** Data of a session in the store. */
interface Locker {
  tools?: string[];
  isOpen?: boolean;
}

const Content = t.Object({ tools: t.Array(t.String()), isOpen: t.Boolean() }, { title: "Locker" });

const contentOf = ({ tools = [], isOpen = false }: Locker) => ({ tools, isOpen });

export function createLocker(store: Store = createStore()) {
  const options: SessionsOptions = { store, secure: false, cookie: "locker", maxAge: 3600 };
  const router = new Router({ prefix: "/locker", tags: ["account"], middleware: [sessions(options)] });
  const params = { request: Request };
  return {
    router,
    seeLocker: router.get("", { params, returns: Content }, async ({ request }) =>
      contentOf(sessionOf<Locker>(request)),
    ),
    seeSizes: router.get("/sizes", { etag: true }, async () => ({ small: 30, large: 60 })),
    openLocker: router.post("/open", { params, returns: Content }, async ({ request }) => {
      renewSession(request);
      const locker = sessionOf<Locker>(request);
      locker.isOpen = true;
      return contentOf(locker);
    }),
    fillLocker: router.post(
      "/{tool}",
      { params, returns: Content, middleware: [once(store)] },
      async ({ request, tool }) => {
        const locker = sessionOf<Locker>(request);
        locker.tools = [...(locker.tools ?? []), tool];
        return contentOf(locker);
      },
    ),
    emptyLocker: router.delete("", { params, statusCode: 204 }, async ({ request }) => clearSession(request)),
  };
}
