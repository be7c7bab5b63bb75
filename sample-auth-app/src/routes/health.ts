import { Depends, Router, t } from "tsgi";

import { getDb } from "../dependencies.js";
import { UNAVAILABLE } from "../models.js";

/** For load balancers and benchmarks. */
export const health = new Router({ tags: ["health"] });

const Status = t.Object({ status: t.String() }, { title: "Status" });

health.get("/health", { summary: "Whether the process answers", returns: Status }, async () => ({ status: "ok" }));

health.get(
  "/ready",
  {
    summary: "Whether it can do its work: the database answers",
    responses: { 503: UNAVAILABLE },
    params: { db: Depends(getDb) },
    returns: Status,
  },
  async ({ db }) => {
    await db.ping();
    return { status: "ready" };
  },
);
