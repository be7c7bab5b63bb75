import { Broadcast, redisBackplane } from "@tsgi/broadcast";
import { Depends, withParams } from "tsgi";

import { settings } from "./config.js";

/** The id of each new item, by the id of its owner. */
interface Topics {
  [items: `items:${number}`]: number;
}

/** Reaches all replicas with Redis; without it, only this process. */
export const openLive = withParams({ settings }, async function* openLive({ settings: { redisUrl } }) {
  const live = new Broadcast<Topics>(redisUrl === undefined ? {} : { backplane: redisBackplane(redisUrl) });
  yield live;
  await live.close();
});

export const live = Depends(openLive, { scope: "app" });
