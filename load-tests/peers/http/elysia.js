/** The benchmark routes on Elysia with its adapter for Node. @module */
import { node } from "@elysiajs/node";
import { createServer } from "node:net";
import { createApp } from "../direct/elysia.js";
import { announce } from "./announce.js";

// The adapter does not tell which port it was given for 0.
const port = await new Promise((resolve) => {
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const { port: free } = probe.address();
    probe.close(() => resolve(free));
  });
});
createApp({ adapter: node() }).listen({ hostname: "127.0.0.1", port });

// Nor does it tell when it listens: its callback comes before.
for (;;) {
  const answers = await fetch(`http://127.0.0.1:${port}/health`).then(
    () => true,
    () => false,
  );
  if (answers) break;
}
announce(port);
