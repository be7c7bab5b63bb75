import { App } from "tsgi";
import { requestId, securityHeaders } from "tsgi/middleware";

import { health } from "./routes/health.js";
import { items } from "./routes/items.js";
import { ItemStore } from "./store.js";

/** The application. Its lifespan creates its store. */
export const app = new App({
  title: "Items",
  version: "0.1.0",
  lifespan: async function* () {
    yield { store: new ItemStore() };
  },
});
app.includeRouter(items);
app.includeRouter(health);
app.addMiddleware(securityHeaders());
app.addMiddleware(requestId());
