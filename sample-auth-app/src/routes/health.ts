import { Router, t } from "tsgi";

/** For load balancers and benchmarks: it answers while the process does. */
export const health = new Router({ tags: ["health"] });

health.get("/health", { returns: t.Object({ status: t.String() }) }, async () => ({ status: "ok" }));
