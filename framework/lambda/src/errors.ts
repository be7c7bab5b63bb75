/**
 * AWS Lambda: `@tsgi/lambda`.
 *
 * These errors are thrown when you create a handler, or when Lambda calls it. See [lambda.md](lambda.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /**
   * Lambda called your function with an event that is not an HTTP request. For example, the function is also the target of
   * a queue or of a schedule.
   *
   * `toLambda()` accepts events of API Gateway (payload format 1.0 and 2.0), of function URLs and of Application Load
   * Balancers. Write another handler for other events.
   */
  TSGI_UNKNOWN_LAMBDA_EVENT: (properties: string) =>
    `The event is not an HTTP request of API Gateway, of a function URL or of an Application Load Balancer: ${properties}. ` +
    "Write another handler for events of other services.",
  /**
   * You use `toLambdaStream()` outside of Lambda. Only Lambda's Node.js runtime has the global `awslambda`, which streams
   * a response.
   *
   * In a test, call `app.fetch`, or use `toLambda()`, which works everywhere.
   *
   * ```js
   * // Wrong
   * toLambdaStream(new App());
   * ```
   *
   * ```js
   * // Right
   * toLambda(new App());
   * ```
   */
  TSGI_NO_LAMBDA_STREAMS:
    "toLambdaStream() needs the global awslambda of Lambda's Node.js runtime. Elsewhere, for example in a test, use " +
    "toLambda() or app.fetch.",
};

/** Makes an error of this package. */
export const lambdaError = errorsOf(MESSAGES);
