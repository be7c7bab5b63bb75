/** `@tsgi/lambda`: an application on AWS Lambda. @module */
export type { LambdaContext, LambdaEvent, LambdaRequestContext } from "./event.js";
export type { LambdaOptions } from "./server.js";
export type { LambdaResult } from "./result.js";
export { type LambdaHandler, toLambda } from "./to-lambda.js";
export { type LambdaStreamHandler, toLambdaStream } from "./to-lambda-stream.js";
