/** The types that a registered route carries for a client. @module */
import type { AnnotationOutput, PathNames, RESPONSES } from "../parameters/annotation.js";
import type { SchemaShape, SENT } from "../parameters/marker.js";
import type { CallResult, DataOf, ErrorOf, FormOf, ErrorsOf, ProblemOf } from "./call-result.js";
import type { WebSocket } from "../http/websocket.js";
import type { ArgumentsOf, OwnParams, Places, WithNames } from "./call-arguments.js";
import type { Received, Sent } from "./json-types.js";

/** The key of a route's types, which are there in types only. */
export declare const ROUTE: unique symbol;

/** The key of a route's methods. */
export declare const ROUTE_METHOD: unique symbol;

/** The key of a route's path. */
export declare const ROUTE_PATH: unique symbol;

/** The key of the arguments of a call after its path. */
export declare const ROUTE_ARGUMENTS: unique symbol;

/** The key of the result of a call. */
export declare const ROUTE_RESULT: unique symbol;

/** The key of the result of a call, if the errors of its App are problem details. */
export declare const ROUTE_PROBLEM: unique symbol;

/**
 * The methods of a route, as the type of a parameter: a function that accepts `GET` and `PUT` is assignable where one
 * that accepts `GET` is required.
 */
export interface Takes<Method extends string> {
  (method: Method): void;
}

/** The types of a registered route. Apart from `args` they are the types of JSON. */
export interface RouteTypes {
  /**
   * The argument of the handler. The result of a dependency is `unknown`: a client of the route does not know its type.
   */
  readonly args: unknown;
  /** The values of a request by place. */
  readonly request: unknown;
  readonly data: unknown;
  /** The bodies of declared errors by status. */
  readonly errors: unknown;
  /** The form of the result of a direct call: a promise of `data`, `data`, or values that JSON changes. */
  readonly form: "promise" | "value" | "unknown";
}

/**
 * A registered route: its handler, and what a client needs to know of it. The compiler computes a property of an
 * interface when it is read: a route that is never called has no further cost.
 */
export interface Routed<Method extends string, Path extends string, Types extends RouteTypes> {
  (...args: CallArguments<Types["args"]>): Called<Types["form"], Types["data"]>;
  readonly [ROUTE]: Types;
  readonly [ROUTE_METHOD]: Takes<Method>;
  readonly [ROUTE_PATH]: Path;
  readonly [ROUTE_ARGUMENTS]: ArgumentsOf<Types["request"]>;
  readonly [ROUTE_RESULT]: Promise<CallResult<Types["data"], ErrorOf<Types["errors"], Types["request"]>>>;
  readonly [ROUTE_PROBLEM]: Promise<CallResult<Types["data"], ProblemOf<Types["errors"], Types["request"]>>>;
}

/** A handler without parameters is called without an argument. */
type CallArguments<Args> = {} extends Args ? [args?: Args] : [args: Args];

type Called<Form, Data> = Form extends "promise" ? Promise<Data> : Form extends "value" ? Data : unknown;

/**
 * Makes the types of a route. An emitted declaration contains the computed members of `types`, because they have no
 * name there: it shows neither the types of dependencies nor the properties that `returns` removes.
 */
export interface TypesOf<
  P,
  Path extends string,
  R,
  Responses,
  Out,
  D = never,
  Around extends Declaring = Declaring<{}>,
> {
  readonly types: {
    readonly args: { [K in keyof P | PathNames<Path>]: K extends keyof P ? ArgumentOf<P[K]> : string };
    readonly request: WithNames<Places<P, PathNames<Path>>, PathNames<Path>>;
    readonly data: DataOf<Out, R, Responses>;
    readonly errors: ErrorsOf<P[keyof P], Responses | Around["responses"], D>;
    readonly form: FormOf<Out, DataOf<Out, R, Responses>>;
  };
}

/**
 * The same for a handler that can have attached params, member by member, so that the compiler computes only members
 * that are read.
 */
export interface TypesOfHandler<H, P, Path extends string, R, Responses, D = never, Declared = {}> {
  readonly types: {
    readonly args: Of<H, P, Path, R, Responses, D, Declared>["args"];
    readonly request: Of<H, P, Path, R, Responses, D, Declared>["request"];
    readonly data: Of<H, P, Path, R, Responses, D, Declared>["data"];
    readonly errors: Of<H, P, Path, R, Responses, D, Declared>["errors"];
    readonly form: Of<H, P, Path, R, Responses, D, Declared>["form"];
  };
}

/** The same of a handler that a decorator gets later. Until then its declaration has this name. */
export type TypesOfDecorated<H, P, Path extends string, R, Responses, D = never, Declared = {}> = H extends unknown
  ? TypesOfHandler<H, P, Path, R, Responses, D, Declared>["types"]
  : never;

/** Those of a handler of WebSockets. */
export type SocketTypesOfDecorated<H, P, Path extends string, Receives, Sends> = H extends unknown
  ? SocketTypesOf<P & OwnParams<H>, Path, Receives, Sends>["types"]
  : never;

type Of<H, P, Path extends string, R, Responses, D, Declared> = TypesOf<
  P & OwnParams<H>,
  Path,
  R,
  Responses,
  ResultOf<H>,
  D,
  Declaring<Declared | OwnResponses<H>>
>["types"];

/** An App or a Router, by the responses that it declares. */
interface Declaring<Responses = unknown> {
  readonly responses: Responses;
}

/** The errors that a handler declares by `withParams`. */
type OwnResponses<H> = H extends { readonly [RESPONSES]: infer Responses } ? Responses : {};

type ResultOf<H> = H extends (...args: never) => infer Out ? Out : H;

type ArgumentOf<A> = A extends { readonly [SENT]: unknown } | SchemaShape ? AnnotationOutput<A> : unknown;

/** The types of a route of WebSockets: `data` are its messages. */
export interface SocketTypesOf<P, Path extends string, Receives, Sends> {
  readonly types: {
    readonly args: { [K in keyof P | PathNames<Path>]: K extends keyof P ? ArgumentOf<P[K]> : string } & {
      ws: WebSocket;
    };
    readonly request: WithNames<Places<P, PathNames<Path>>, PathNames<Path>>;
    /** A client sends the data that the server receives. */
    readonly data: {
      readonly sent: [Receives] extends [undefined] ? unknown : Sent<Receives>;
      readonly received: [Sends] extends [undefined] ? unknown : Received<Sends>;
    };
    readonly errors: never;
    readonly form: "unknown";
  };
}
