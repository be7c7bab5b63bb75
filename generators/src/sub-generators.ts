import type { subCommandNames } from "./options.js";
import { dependency } from "./sub-generators/dependency.js";
import { middleware } from "./sub-generators/middleware.js";
import { model } from "./sub-generators/model.js";
import { route } from "./sub-generators/route.js";
import { router } from "./sub-generators/router.js";
import type { SubGenerator } from "./sub-generators/sub-generator.js";
import { websocket } from "./sub-generators/websocket.js";

/** The sub-generators by name. */
export const subGenerators: Readonly<Record<(typeof subCommandNames)[number], SubGenerator>> = {
  route,
  router,
  model,
  dependency,
  middleware,
  websocket,
};
