/** A server of another framework, around the handlers of the applications. */
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { installOnDemand } from "../support/on-demand.js";
import { ANYWHERE, type Mounts } from "./_application.js";

/** Something that a host does not have. */
export type HostFeature = "error middleware" | "fallthrough" | "parsers" | "shared headers";

/** A host that listens. */
export interface RunningHost {
  readonly url: string;
  close(): Promise<void>;
}

/** A framework that serves the handlers. */
export interface Host {
  /** As the table calls it. */
  readonly name: string;
  /** Its packages with their versions, the two main ones first. They are fetched on demand, unless they are devDependencies. */
  readonly packages: readonly string[];
  /** `true` if the packages are devDependencies, so that every run of the tests can use them. */
  readonly isInstalled: boolean;
  /** The features that the host does not have, each with the reason. */
  readonly lacks: Readonly<Partial<Record<HostFeature, string>>>;
  /** Starts the host with the handlers at their prefixes. */
  start(mounts: Mounts, load: Load): Promise<RunningHost>;
}

/** Imports a package of the host. */
export type Load = <Module>(name: string) => Promise<Module>;

/** The modules of a host: installed ones, or the ones in its separate folder. */
export function loaderOf({ name, packages, isInstalled }: Pick<Host, "name" | "packages" | "isInstalled">): Load {
  const folder = isInstalled
    ? import.meta.dirname
    : installOnDemand(`host-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`, packages);
  const { resolve } = createRequire(path.join(folder, "index.js"));
  return async (specifier) => (await import(pathToFileURL(resolve(specifier)).href)) as never;
}

/** The middleware of each host. */
export function prepare(req: IncomingMessage, res: ServerResponse): void {
  if (req.url?.startsWith(ANYWHERE)) return;
  Object.assign(req, { user: { name: "ada" } });
  res.setHeader("x-host", "host");
  res.setHeader("x-both", "host");
  res.setHeader("vary", "Origin");
  res.setHeader("link", "</h>; rel=up");
  res.setHeader("set-cookie", "host=1");
}

/** The body of a host's own responses: to a path that no application has, and to an error. */
export const hostBody = (text: string): string => JSON.stringify({ host: text });

export function respond(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { "content-type": "application/json" }).end(hostBody(text));
}

/** Adds the WebSockets of the handlers, and listens. */
export async function listen(
  server: Server,
  { all }: Mounts,
  close = async (): Promise<void> => {},
): Promise<RunningHost> {
  const sharing = all.filter(({ prefix }) => prefix !== ANYWHERE); // without `fallthrough`, it would take every upgrade
  for (const { handler } of sharing) server.on("upgrade", handler.upgrade);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const { handler } of all) await handler.close();
      server.closeAllConnections();
      await close();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}
