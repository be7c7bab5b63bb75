/** Other frameworks inside an App. @module */
import { describe } from "../../../common/messages.js";
import { errorsOf } from "../../../common/exceptions.js";

export const HOSTED = {
  /**
   * The argument of `fromNodeHandler` is not a listener of `node:http`.
   *
   * Pass the function that `http.createServer` accepts, or a server with listeners. Fastify has it as `routing` after
   * `await fastify.ready()`, Koa returns it from `callback()`, and Nest from `getHttpServer()` after `await nest.init()`.
   */
  TSGI_NOT_A_NODE_LISTENER: (given: unknown) =>
    `fromNodeHandler() should get a listener of node:http or an http.Server, not ${describe(given)}. ` +
    "Pass fastify.routing, koa.callback(), or nest.getHttpServer() after init().",
  /**
   * `fromNodeHandler` works on Node only.
   *
   * The servers of `node:http` of other runtimes do not accept a connection in memory.
   */
  TSGI_NODE_LISTENER_PLATFORM: (runtime: string) =>
    `fromNodeHandler() needs the node:http of Node, and this is ${runtime}. Run the other application in its own process, ` +
    "behind the same proxy.",
};

export const hostedError = errorsOf(HOSTED);
