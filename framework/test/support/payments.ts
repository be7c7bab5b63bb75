/** Payments to a server that a test kills at any moment. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { request } from "node:http";
import path from "node:path";
import { build } from "esbuild";
import { CACHE } from "./on-demand.js";

/** The body of a payment. Its name is the key of the request, too. */
export interface Payment {
  readonly name: string;
  readonly holds?: boolean;
}

/** A server in a separate process. */
export interface Victim {
  readonly url: string;
  readonly process: ChildProcess;
  readonly exited: Promise<unknown>;
}

/** Bundles a program, which each victim loads: to compile its modules each time takes twice the processor time. */
export async function bundleProgram(program: string): Promise<{ file: string } & AsyncDisposable> {
  const file = path.join(CACHE, `victim-${randomUUID()}.js`);
  const options = { bundle: true, packages: "external", platform: "node", format: "esm" } as const;
  await build({ entryPoints: [program], outfile: file, ...options });
  return { file, [Symbol.asyncDispose]: () => rm(file) };
}

/** Starts a program that prints its URL. */
export async function startVictim(file: string, env: Record<string, string>): Promise<Victim> {
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, NODE_OPTIONS: "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  for await (const chunk of child.stdout) return { url: String(chunk).trim(), process: child, exited };
  throw new Error("the server did not start");
}

/** Pays, and returns the body; `null` if the connection ended before the whole response. */
export function pay(url: string, payment: Payment): Promise<string | null> {
  return new Promise((resolve) => {
    const headers = {
      "idempotency-key": payment.name,
      "content-type": "application/json",
      authorization: "Bearer ada",
    };
    const sending = request(`${url}/payments`, { method: "POST", headers, agent: false });
    sending.on("error", () => resolve(null));
    sending.on("response", (response) => {
      response.toArray().then(
        (chunks) => resolve(response.complete ? Buffer.concat(chunks as Buffer[]).toString() : null),
        () => resolve(null),
      );
    });
    sending.end(JSON.stringify(payment));
  });
}

/** The moments at which the tries of a test kill: one at random in each part of a payment, and a little after it. */
export function momentsOf(tries: number): number[] {
  return Array.from({ length: tries }, (_, index) => (1.3 * (index + Math.random())) / tries);
}

/** Pays twice, the first time to warm the server up. Returns the milliseconds of the second payment. */
export async function measurePayment(url: string, index: number): Promise<number> {
  await pay(url, { name: `warm ${index}` });
  const before = performance.now();
  await pay(url, { name: `measured ${index}` });
  return performance.now() - before;
}
