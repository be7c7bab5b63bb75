/** The networks from which a monitoring system scrapes. @module */
import { HTTPException, Request, withParams } from "tsgi";
import { TrustedProxies } from "tsgi/internals";

/**
 * Hides a route from the clients of other networks. Attack: a proxy in a private network that the server does not trust
 * forwards a public client, so each address on the way must be private.
 *
 * @throws ConfigurationError on a platform without `node:net`.
 */
export function refusePublic() {
  const internal = new TrustedProxies(["loopback", "private"], { option: "privateOnly" });
  return withParams({ request: Request }, async ({ request }) => {
    const scope = { ...request.scope };
    internal.apply(scope);
    if (!internal.trusts(scope.client ?? null)) throw new HTTPException(404);
  });
}
