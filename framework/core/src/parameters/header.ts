/** `Header()`: a parameter from a header. @module */
import { headerValues } from "../protocol/header-list.js";
import { ParamKind, type ParamFunction } from "./marker.js";
import { createDescriptor } from "./source.js";
import { createHeadSource } from "./text.js";

/** `userAgent` and `user_agent` are `user-agent`. */
function headerName(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}

/** The headers. Their names have no case, so that each is in lower case here (RFC 9110 §5.1). */
export const HEADER = createHeadSource(
  {
    kind: ParamKind.HEADER,
    descriptor: "Header",
    in: "header",
    wireName: headerName,
    wireAlias: (alias) => alias.toLowerCase(),
  },
  {
    one: ({ scope }, name) => headerValues(scope.headers ?? [], name).at(-1),
    all: ({ scope }, name) => headerValues(scope.headers ?? [], name),
  },
);

/**
 * A header. The parameter `userAgent` or `user_agent` reads `user-agent`.
 *
 * @example
 * ```ts
 * import { App, Header } from "tsgi";
 *
 * const app = new App();
 * app.get("/agent", { params: { userAgent: Header({ default: null }) } }, async ({ userAgent }) => userAgent);
 * ```
 */
export const Header: ParamFunction<"header"> = createDescriptor(HEADER);
