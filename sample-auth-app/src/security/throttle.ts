import { Depends, withParams } from "tsgi";
import { LoginThrottle } from "@tsgi/passwords";
import { openRedisStore } from "@tsgi/redis";

import { settings } from "../config.js";
import { logger } from "../logging.js";

/**
 * Limits wrong passwords and registrations. In Redis all replicas count together; without it, and while it is away, each
 * counts by itself.
 */
export const openThrottle = withParams({ settings, logger }, async function* ({ settings: { redisUrl }, logger }) {
  const shared = redisUrl === undefined ? null : await openRedisStore(redisUrl, { logger, prefix: "throttle:" });
  yield new LoginThrottle(shared === null ? {} : { store: shared });
  shared?.close();
});

export const throttle = Depends(openThrottle, { scope: "app" });
