/** The worker of the HTTP table: its module is bundled for workerd. */
import { createApp } from "./http-app.mjs";

export default { fetch: createApp().fetch };
