import { Router, t } from "tsgi";

/** For load balancers and container engines. */
export const health = new Router({ tags: ["health"] });

export const getHealth = health.get(
  "/health",
  { summary: "Liveness of the process", returns: t.Object({ status: t.Literal("ok") }, { title: "Health" }) },
  async () => ({ status: "ok" as const }),
);
