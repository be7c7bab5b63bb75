import { Depends, withParams } from "tsgi";
import { memoryStore } from "tsgi/middleware";
import { redisBackplane } from "@tsgi/broadcast"; // with live
import { openRedisStore } from "@tsgi/redis";

import { settings } from "../../config.js";
import { logger } from "../../logging.js";

/** The counts of the throttle: with `REDIS_URL` all replicas count together; without it, each counts separately. */
export const openCounts = withParams({ settings, logger }, async function* ({ settings: { redisUrl }, logger }) {
  const shared = redisUrl === undefined ? null : await openRedisStore(redisUrl, { logger, prefix: "throttle:" });
  yield shared ?? memoryStore();
  shared?.close();
});

export const counts = Depends(openCounts, { scope: "app" });

// with live:
/** With `REDIS_URL`, the messages about new items reach all replicas; without it, only this process. */
export const getBackplane = withParams({ settings }, async ({ settings: { redisUrl } }) =>
  redisUrl === undefined ? {} : { backplane: redisBackplane(redisUrl) },
);
// end live
