/** The feed that all servers of this section share, and the head of a stream for those that write it themselves. @module */
import { Feed } from "../../../load-tests/dist/realtime/feed.js";

export { toText } from "../../../load-tests/dist/realtime/feed.js";

export const feed = new Feed();

export const HEAD = { "content-type": "text/event-stream", "cache-control": "no-store" };
