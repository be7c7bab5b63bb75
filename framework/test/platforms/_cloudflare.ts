/** A Worker of Cloudflare: bundled by `wrangler deploy --dry-run`, and run by workerd. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse } from "jsonc-parser";
import { binaryOf, installOnDemand } from "../support/on-demand.js";
import { type Running, startProgram } from "./_platform.js";
import { createProject, environment } from "./_project.js";

export const WRANGLER = "wrangler@4.164.0";

/** The parts that workerd needs of `wrangler.jsonc`. */
interface WranglerConfig {
  readonly main: string;
  readonly compatibility_date: string;
  readonly compatibility_flags?: readonly string[];
}

function readConfig(project: string): WranglerConfig {
  return parse(readFileSync(path.join(project, "wrangler.jsonc"), "utf8")) as WranglerConfig;
}

/** The edge of Cloudflare, which writes the address of the client into each request. */
const EDGE = `export default {
  fetch(request, { main }) {
    const passed = new Request(request);
    passed.headers.set("cf-connecting-ip", "127.0.0.1");
    return main.fetch(passed);
  },
};
`;

/** The configuration of workerd for the bundle `worker.js`. */
function toWorkerd({ compatibility_date: date, compatibility_flags: flags = [] }: WranglerConfig): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "edge", worker = (
      modules = [(name = "edge", esModule = embed "edge.js")],
      bindings = [(name = "main", service = "main")],
      compatibilityDate = "${date}",
      compatibilityFlags = [${flags.map((flag) => `"${flag}"`).join(", ")}],
    )),
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "worker.js")],
      compatibilityDate = "${date}",
      compatibilityFlags = [${flags.map((flag) => `"${flag}"`).join(", ")}],
    )),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "edge")],
);
`;
}

/** Bundles the Worker of a project as `wrangler deploy` does. Returns the folder of `worker.js`. */
function bundleWorker(project: string): string {
  const wrangler = path.join(installOnDemand("wrangler", [WRANGLER]), "node_modules/wrangler/bin/wrangler.js");
  execFileSync(binaryOf("node22"), [wrangler, "deploy", "--dry-run", "--outdir", "bundle"], {
    cwd: project,
    env: environment({ CI: "1", WRANGLER_SEND_METRICS: "false", XDG_CONFIG_HOME: project }),
    stdio: ["ignore", "ignore", process.env["TSGI_SHOW"] === undefined ? "ignore" : "inherit"],
  });
  return path.join(project, "bundle");
}

/** Builds the project of `--deploy cloudflare`, and starts its Worker. */
export async function startCloudflare(home: string): Promise<Running> {
  const project = await createProject(home, "cloudflare");
  const folder = bundleWorker(project);
  writeFileSync(path.join(folder, "edge.js"), EDGE);
  writeFileSync(path.join(folder, "config.capnp"), toWorkerd(readConfig(project)));
  const command = [binaryOf("workerd"), "serve", "--control-fd=1", "config.capnp"];
  return startProgram(command, folder, {}, (line) => {
    const { port } = JSON.parse(line) as { port?: number };
    return port === undefined ? null : `http://127.0.0.1:${port}`;
  });
}
