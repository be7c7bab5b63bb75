/** A function of Netlify: built by Netlify's bundler, and run by Netlify's runtime under AWS's runtime interface client. */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { readHead, readResult } from "../../lambda/test/_gateway.js";
import { binaryOf, installOnDemand } from "../support/on-demand.js";
import { type Gateway, startLambda } from "./_lambda.js";
import type { Running } from "./_platform.js";
import { createProject, environment } from "./_project.js";

export const BUNDLER = "@netlify/zip-it-and-ship-it@16.2.3";

/** The front end of Netlify: its events have the URL, the headers, and the address of the client in one of them. */
const netlify: Gateway = {
  toEvent: ({ method, target, headers, body, sourceIp }) => {
    const request = new Headers(headers.map(([name, value]) => [name, value]));
    const url = new URL(`https://${request.get("host")}${target}`);
    request.set("x-nf-client-connection-ip", sourceIp);
    request.set("x-nf-site-id", "anywhere");
    request.set("x-nf-geo", Buffer.from("{}").toString("base64"));
    return {
      rawUrl: url.href,
      rawQuery: url.search.slice(1),
      path: url.pathname,
      httpMethod: method,
      headers: Object.fromEntries(request),
      body: body.length === 0 ? undefined : Buffer.from(body).toString("base64"),
      isBase64Encoded: body.length > 0,
      route: "/*",
    };
  },
  readHead: (head) => readHead("REST API", head),
  readResult: (result) => readResult("REST API", result),
};

/** Builds the function of a project. Returns its folder. */
function buildFunction(project: string): string {
  const modules = path.join(installOnDemand("netlify", [BUNDLER, "toml@4.3.0"]), "node_modules");
  const args = [
    path.join(import.meta.dirname, "netlify-build.mjs"),
    modules,
    project,
    path.join(project, ".functions"),
  ];
  return execFileSync(binaryOf("node22"), args, { cwd: project, env: environment(), encoding: "utf8" });
}

/** Builds the project of `--deploy netlify`, and starts its function. */
export async function startNetlify(home: string): Promise<Running> {
  const folder = buildFunction(await createProject(home, "netlify"));
  return startLambda(netlify, folder, { handler: "___netlify-entry-point.handler" });
}
