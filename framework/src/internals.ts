/**
 * `tsgi/internals`: what tools that describe or measure an application need, and an application itself does not: the
 * compiled routes, the compiled parameters of a handler, the nodes of the router. It may change in a minor version.
 *
 * @module
 */
export { type Endpoint, endpointsOf } from "./app.js";
export { compileHandler, type CompiledHandler, type ParamSpec } from "./dependencies.js";
export { ParamKind } from "./params.js";
export { PathPattern } from "./path-pattern.js";
export { RadixNode, RadixRouter } from "./router.js";
export type { PathParams, Resolved } from "./router.js";
