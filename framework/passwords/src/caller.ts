/** `getCaller`: the queue of a request. @module */
import { Request, withParams } from "tsgi";
import type { Caller } from "tsgi/concurrency";
import { clientNetwork } from "tsgi/middleware";

/**
 * A dependency whose value you pass to `hash` and `verify`: a queue for each client, so that a flood from one does not delay
 * the others, and the signal that removes a request from it if its client disconnects. A client is an IPv4 address, or the /64
 * of an IPv6 address.
 *
 * @example
 * ```ts
 * import { App, Depends, Form, t } from "tsgi";
 * import { getCaller, Passwords } from "@tsgi/passwords";
 *
 * const passwords = new Passwords();
 * const app = new App();
 * const params = { form: Form(t.Object({ password: t.String() })), caller: Depends(getCaller) };
 * app.post("/hash", { params }, async ({ form, caller }) => passwords.hash(form.password, caller));
 * ```
 */
export const getCaller = withParams(
  { request: Request },
  async ({ request: { client, signal } }): Promise<Required<Caller>> => ({
    line: clientNetwork(client?.host ?? ""),
    signal,
  }),
);
