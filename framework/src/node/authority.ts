/** The `uri-host [":" port]` of a `Host` header or of a target. @module */
export { isAuthority } from "../http-grammar.js";
