import { httpMiddleware } from "tsgi/middleware";

/** Keeps tokens out of every cache (RFC 6749 §5.1), and the errors beside them. */
export const noStore = httpMiddleware(async (_, next) => {
  const { headers } = await next();
  headers.set("cache-control", "no-store");
});
