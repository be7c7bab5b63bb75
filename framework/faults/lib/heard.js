/** An application that writes down each request that it is called for, and reads its body. */
import { serve } from "tsgi/node";

const server = await serve(
  async (scope, receive, send) => {
    if (scope.type !== "http") return;
    for (let more = true; more;) {
      const message = await receive();
      more = message.type === "http.request" && message.more_body === true;
    }
    process.stdout.write(`heard ${scope.method} ${scope.path}\n`);
    await send({ type: "http.response.start", status: 200, headers: [] });
    await send({ type: "http.response.body", body: Buffer.from("ok") });
  },
  { port: 0, ...JSON.parse(process.argv[2] ?? "{}") },
);
process.stdout.write(`url ${server.url}\n`);
