import { Broadcast } from "@tsgi/broadcast";
import { BackgroundTasks, Depends, withParams } from "tsgi";

import { getBackplane } from "../redis/index.js"; // with redis

/** The id of each new item, by the id of its owner. */
interface Topics {
  [items: `items:${number}`]: number;
}

const options = Depends(getBackplane, { scope: "app" }); // with redis
// without redis: const options = Depends(async () => ({}), { scope: "app" });

export const openLive = withParams({ options }, async function* openLive({ options }) {
  const live = new Broadcast<Topics>(options);
  yield live;
  await live.close();
});

export const live = Depends(openLive, { scope: "app" });

/** Announces an item to the streams of its owner, after the response: a failure of Redis delays no response. */
export const announce = Depends(
  withParams({ live, tasks: BackgroundTasks }, async ({ live, tasks }) => (ownerId: number, id: number) => {
    tasks.addTask(() => live.publish(`items:${ownerId}`, id));
  }),
);
