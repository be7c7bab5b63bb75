/** The events that Lambda passes to a function for an HTTP request. @module */
import { isRecord } from "tsgi/internals";
import { lambdaError } from "./errors.js";

type Values<Value> = Readonly<Record<string, Value | undefined>> | null | undefined;

/** The parts of an event's `requestContext` that a request is made of. */
export interface LambdaRequestContext {
  /** Payload format 2.0: HTTP APIs and function URLs. */
  readonly http?: { readonly method?: string; readonly protocol?: string; readonly sourceIp?: string };
  /** Payload format 1.0: REST APIs. */
  readonly identity?: { readonly sourceIp?: string | null };
  readonly protocol?: string;
  /** Application Load Balancers. */
  readonly elb?: { readonly targetGroupArn?: string };
  readonly domainName?: string | undefined;
}

/**
 * An event of API Gateway (payload format 1.0 or 2.0), of a function URL, or of an Application Load Balancer. The types of
 * `@types/aws-lambda` can be assigned to it.
 *
 * @see {@link https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html}
 * @see {@link https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html}
 */
export interface LambdaEvent {
  readonly version?: string;
  readonly httpMethod?: string;
  readonly path?: string;
  readonly rawPath?: string;
  readonly rawQueryString?: string;
  readonly headers?: Values<string>;
  readonly multiValueHeaders?: Values<readonly string[]>;
  readonly queryStringParameters?: Values<string>;
  readonly multiValueQueryStringParameters?: Values<readonly string[]>;
  readonly cookies?: readonly string[] | undefined;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean;
  readonly requestContext?: LambdaRequestContext;
}

/** The second argument of Lambda's handlers. The types of `@types/aws-lambda` can be assigned to it. */
export interface LambdaContext {
  readonly awsRequestId?: string;
  readonly functionName?: string;
}

/**
 * The source of an event:
 *
 * - `v1`: API Gateway with payload format 1.0, which REST APIs always use.
 * - `v2`: HTTP APIs with payload format 2.0, and function URLs.
 * - `alb`: an Application Load Balancer, whose target group has no multi-value headers.
 * - `alb-multi`: one whose target group has them.
 */
export type EventSource = "v1" | "v2" | "alb" | "alb-multi";

/** An event, read without trust in its types: everyone with the permission to invoke a function can write the event. */
export interface ReadEvent {
  readonly source: EventSource;
  readonly method: string;
  readonly path: string;
  /** The fields of the event. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The fields of its `requestContext`. */
  readonly context: Readonly<Record<string, unknown>>;
}

/** Reads the source, the method and the path of an event. @throws ConfigurationError if it is not an HTTP request. */
export function readEvent(event: unknown): ReadEvent {
  const fields = isRecord(event) ? event : {};
  const context = recordAt(fields, "requestContext");
  const http = recordAt(context, "http");
  const isV2 = typeof http["method"] === "string";
  const method = isV2 ? http["method"] : fields["httpMethod"];
  const path = isV2 ? fields["rawPath"] : fields["path"];
  if (typeof method !== "string" || typeof path !== "string") throw unknownEvent(event);
  return { source: isV2 ? "v2" : sourceOf(fields, context), method, path, fields, context };
}

function sourceOf(fields: ReadEvent["fields"], context: ReadEvent["context"]): EventSource {
  if (!("elb" in context)) return "v1";
  return isRecord(fields["multiValueHeaders"]) ? "alb-multi" : "alb";
}

function unknownEvent(event: unknown): Error {
  const names = isRecord(event) ? Object.keys(event).slice(0, 10).join(", ") : typeof event;
  return lambdaError("TSGI_UNKNOWN_LAMBDA_EVENT", names === "" ? "it is empty" : `it has ${names}`);
}

const NONE: Readonly<Record<string, unknown>> = Object.freeze({});

/** The object in a field; an empty one if it is something else. */
export function recordAt(fields: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const value = fields[name];
  return isRecord(value) ? value : NONE;
}

/** The string in a field, or `undefined`. */
export function textAt(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" ? value : undefined;
}

/**
 * The names and values of two fields. If both have a name, its values are read from `multiName`, which has all of them.
 */
export function pairsOf(fields: ReadEvent["fields"], multiName: string, name: string): (readonly [string, string])[] {
  const pairs: [string, string][] = [];
  const multi = recordAt(fields, multiName);
  const names = new Set(Object.keys(multi).map((key) => key.toLowerCase()));
  for (const [key, values] of Object.entries(multi)) {
    for (const value of Array.isArray(values) ? (values as unknown[]) : []) {
      if (typeof value === "string") pairs.push([key, value]);
    }
  }
  for (const [key, value] of Object.entries(recordAt(fields, name))) {
    if (typeof value === "string" && !names.has(key.toLowerCase())) pairs.push([key, value]);
  }
  return pairs;
}
