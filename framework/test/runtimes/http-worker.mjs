/** The worker of the HTTP table: its module is bundled for workerd. */
import { App, FileResponse, StaticFiles } from "tsgi";
import { compress } from "tsgi/middleware";
import { createApp } from "./http-app.mjs";

/** The code of the error that a function throws. */
function codeOf(make) {
  try {
    make();
    return "none";
  } catch ({ code }) {
    return code;
  }
}

const app = createApp();
app.get("/lacks", async () => codeOf(() => new StaticFiles("public")));
app.get("/compressed", { middleware: [compress()] }, async () => "a".repeat(1000));
app.get("/lacks/file", async () => new FileResponse("page.html"));
const pooled = new App({ pool: { kind: "process" } });
pooled.get("/pooled", () => "never");

export default {
  fetch: (request, env, context) => (request.url.endsWith("/pooled") ? pooled : app).fetch(request, env, context),
};
