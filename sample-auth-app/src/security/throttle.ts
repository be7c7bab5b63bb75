import { Depends, withParams } from "tsgi"; // with redis
// without redis: import { Depends } from "tsgi";
import { LoginThrottle } from "@tsgi/passwords";

import { counts } from "../extras/redis/index.js"; // with redis

/** Limits wrong passwords and registrations. */
export const openThrottle = withParams({ counts }, async ({ counts }) => new LoginThrottle({ store: counts })); // with redis
// without redis: export const openThrottle = async () => new LoginThrottle();

export const throttle = Depends(openThrottle, { scope: "app" });
