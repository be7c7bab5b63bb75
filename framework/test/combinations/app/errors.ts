/** Exception handlers of the App, of a router and of a route. @module */
import {
  ClientDisconnect,
  ConfigurationError,
  type ConfigurationErrorOptions,
  type ErrorCode,
  type ErrorFacts,
  type ErrorFormat,
  errorFormat,
  type ErrorFormatOptions,
  type ErrorSource,
  type ExceptionHandler,
  type ExceptionHandlersInit,
  type Fault,
  HTTPException,
  httpExceptionHandler,
  JSONResponse,
  PlainTextResponse,
  RequestValidationError,
  requestValidationExceptionHandler,
  ResponseValidationError,
  t,
  type Translate,
} from "tsgi";
import { BorrowedError, BrokenError } from "./library.js";

/** After the library's own header, so that a client can distinguish its errors from those of a proxy. */
const answersHTTP: ExceptionHandler<HTTPException> = (error, request) => {
  const source: ErrorSource = request;
  const response = httpExceptionHandler(error, source);
  response.headers.set("x-error", `${error.statusCode} ${request.method}`);
  return response;
};

const answersFaults: ExceptionHandler<RequestValidationError> = (error) => {
  const response = requestValidationExceptionHandler(error);
  response.headers.set("x-faults", error.errors.map(({ loc }: Fault) => loc.join(".")).join(" "));
  return response;
};

const answersBorrowed: ExceptionHandler<BorrowedError> = ({ tool, by }, request) =>
  new JSONResponse({ detail: `${by} has the ${tool}`, path: request.path }, { statusCode: 409 });

/** Returns a value, which is sent as JSON with the status of the error. */
const answersTeapot: ExceptionHandler<Error> = () => ({ detail: "A handler of this status answers" });

/** The library speaks English, and one word of Latin. */
export const translate: Translate = ({ type }, languages) =>
  type === "missing" && languages[0] === "la" ? "Deest" : undefined;

const PartnerError = t.Object({ partner: t.String() }, { title: "PartnerError" });

const partnerOptions: ErrorFormatOptions<typeof PartnerError> = {
  schema: PartnerError,
  write: ({ detail }: ErrorFacts) => ({ partner: String(detail) }),
};

/** The errors of the application for partners. */
export const partnerErrors: ErrorFormat<typeof PartnerError> = errorFormat(partnerOptions);

export const appHandlers: ExceptionHandlersInit = [
  [HTTPException, answersHTTP],
  [RequestValidationError, answersFaults],
  [BorrowedError, answersBorrowed],
  [ClientDisconnect, () => null],
];

export const routerHandlers: ExceptionHandlersInit = { 418: answersTeapot };

/** Of the class above: routes of the desk tell the person what to do. */
export const routeHandlers: ExceptionHandlersInit = [
  [BrokenError, ({ tool }: BrokenError) => new PlainTextResponse(`Repair the ${tool} first`, { statusCode: 423 })],
];

/** Explains a result that did not fit, where the operator may see it. */
export function explainResult(error: unknown): readonly Fault[] {
  return error instanceof ResponseValidationError ? error.errors : [];
}

/** An error of the one who puts the application together, as the framework throws them. */
export function refuseSetting(name: string, options: ConfigurationErrorOptions = {}): ConfigurationError {
  return new ConfigurationError(`The library cannot be opened with ${name}.`, options);
}

/** The code of an error of configuration, for programs. */
export function codeOf(error: unknown): ErrorCode | (string & {}) | undefined {
  return error instanceof ConfigurationError ? error.code : undefined;
}
