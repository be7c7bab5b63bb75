import { cookieValues } from "../request.js";
import { ParamKind, type ParamFunction } from "./marker.js";
import { createDescriptor } from "./source.js";
import { createHeadSource } from "./text.js";

/** The cookies. */
export const COOKIE = createHeadSource(
  { kind: ParamKind.COOKIE, descriptor: "Cookie", in: "cookie" },
  {
    of: ({ request }, name, isList) => {
      if (isList) return cookieValues(request.header("cookie"), name);
      const text = request.cookies[name];
      return text === undefined ? [] : [text];
    },
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
