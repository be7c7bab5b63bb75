/** The platforms on which the application runs, each with its own programs. */
import path from "node:path";
import { binaryOf } from "../support/on-demand.js";
import type { FrontEnd } from "../../lambda/test/_gateway.js";
import { startCloudflare, WRANGLER } from "./_cloudflare.js";
import { gatewayOf, RUNTIME_CLIENT, startLambda } from "./_lambda.js";
import { BUNDLER, startNetlify } from "./_netlify.js";
import { bundle, type Platform, startProgram } from "./_platform.js";
import { startCancellable, startVercel, VERCEL } from "./_vercel.js";

const BUNDLED = "the bundle has no files of `@tsgi/docs-ui`, so the page links to the OpenAPI document";

/** The platform of one front end, with the response returned whole or streamed. */
function lambda(frontEnd: FrontEnd, call: "toLambda" | "toLambdaStream"): Platform {
  const isStreamed = call === "toLambdaStream";
  return {
    name: `AWS Lambda, ${frontEnd}, ${call}`,
    programs: `\`${RUNTIME_CLIENT}\``,
    lacks: {
      "documentation pages": BUNDLED,
      disconnects: "Lambda does not report a disconnect to a function",
      ...(frontEnd === "HTTP API" && { "encoded slashes": "HTTP APIs decode the path" }),
      ...(frontEnd.startsWith("ALB") && { "large responses": "a load balancer accepts 1 MB" }),
      ...(!isStreamed && { "response streams": "the response is returned whole" }),
    },
    start: async (home) => {
      await bundle(
        home,
        `import { ${call} } from "@tsgi/lambda";
         import { createApp } from "./app.mjs";
         export const handler = ${call}(createApp({ files: process.env.FILES, pool: { kind: "inline" } }));`,
      );
      return startLambda(gatewayOf(frontEnd), home, { env: { FILES: path.join(home, "public") } });
    },
  };
}

const bun: Platform = {
  name: "Bun",
  programs: "Bun 1.4.5",
  lacks: { "documentation pages": BUNDLED },
  start: async (home) => {
    await bundle(
      home,
      `import { createApp } from "./app.mjs";
       const { fetch } = createApp({ files: process.env.FILES, pool: { kind: "inline" } });
       console.log(String(Bun.serve({ hostname: "127.0.0.1", port: 0, fetch }).url));`,
    );
    return startProgram([binaryOf("bun"), "index.mjs"], home, { FILES: path.join(home, "public") });
  },
};

const deno: Platform = {
  name: "Deno",
  programs: "Deno 2.9.6",
  lacks: { "documentation pages": BUNDLED },
  start: async (home) => {
    await bundle(
      home,
      `import { createApp } from "./app.mjs";
       const { fetch } = createApp({ files: process.env.FILES, pool: { kind: "inline" } });
       const onListen = ({ port }) => console.log("http://127.0.0.1:" + port);
       Deno.serve({ hostname: "127.0.0.1", port: 0, onListen }, fetch);`,
    );
    const command = [binaryOf("deno"), "run", "--allow-all", "--no-prompt", "index.mjs"];
    return startProgram(command, home, { FILES: path.join(home, "public") });
  },
};

const cloudflare: Platform = {
  name: "Cloudflare Workers",
  programs: `\`${WRANGLER}\`, workerd 2026-11-17`,
  lacks: {
    "documentation pages": BUNDLED,
    "static files": "a Worker has no files; Cloudflare serves its `assets`",
  },
  start: startCloudflare,
};

const PUBLIC = "the platform serves the files of the folder `public`, not the function";

const vercel = { "static files": PUBLIC };

const onVercel: Platform = {
  name: "Vercel",
  programs: `\`${VERCEL}\`, \`bundling-handler.js\``,
  lacks: { ...vercel, disconnects: "this handler does not report a disconnect to the function" },
  start: startVercel,
};

const cancellable: Platform = {
  name: "Vercel, with `supportsCancellation`",
  programs: `\`${VERCEL}\`, the documented interface`,
  lacks: vercel,
  start: startCancellable,
};

const netlify: Platform = {
  name: "Netlify",
  programs: `\`${BUNDLER}\`, \`${RUNTIME_CLIENT}\``,
  lacks: { disconnects: "Lambda does not report a disconnect to a function", "static files": PUBLIC },
  start: startNetlify,
};

export const platforms: readonly Platform[] = [
  lambda("function URL", "toLambdaStream"),
  lambda("function URL", "toLambda"),
  lambda("HTTP API", "toLambda"),
  lambda("REST API", "toLambda"),
  lambda("ALB, multi-value", "toLambda"),
  onVercel,
  cancellable,
  netlify,
  cloudflare,
  bun,
  deno,
];
