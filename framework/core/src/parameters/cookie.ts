/** `Cookie()`: a parameter from a cookie. @module */
import { cookieValues } from "../http/request/cookies.js";
import { ParamKind, type ParamFunction } from "./marker.js";
import { createDescriptor } from "./source.js";
import { createHeadSource } from "./text.js";

/** The cookies. */
export const COOKIE = createHeadSource(
  { kind: ParamKind.COOKIE, descriptor: "Cookie", in: "cookie" },
  {
    one: ({ request }, name) => request.cookies[name],
    all: ({ request }, name) => cookieValues(request.header("cookie"), name),
    names: ({ request }) => Object.keys(request.cookies),
  },
);

/**
 * A cookie.
 *
 * @example
 * ```ts
 * import { App, Cookie } from "tsgi";
 *
 * const app = new App();
 * app.get("/theme", { params: { theme: Cookie({ default: null }) } }, async ({ theme }) => theme ?? "light");
 * ```
 */
export const Cookie: ParamFunction<"cookie"> = createDescriptor(COOKIE);
