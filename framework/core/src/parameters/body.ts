/** The JSON body: received and parsed once for all its parameters, and read by each. @module */
import type { ReceiveMessage } from "../protocol/asgi.js";
import { contentHeaders } from "../protocol/header-list.js";
import { createBytes } from "../protocol/bytes.js";
import { FLAG } from "../common/options.js";
import { assertIdentity } from "../http/request/body.js";
import { isJSON, JSON_TYPE, JSONError, parseJSON } from "../http/request/json.js";
import { Faults } from "../schema/faults.js";
import { isRecord } from "../schema/structs.js";
import {
  absenceOf,
  createParamFunction,
  createSource,
  INVALID,
  type JSONBody,
  type LoadingParts,
  Location,
  type Parameter,
  type Read,
} from "./source.js";
import { type BodyFunction, ParamKind } from "./marker.js";

const NO_BYTES = createBytes(0);

/**
 * Requests the first message, for {@link take}; returns `null` if the body is loaded, or if a `Request` reads it. The
 * message is asked for without a `Request`, because nearly every body is whole in it: 25 % of a request (Node 20).
 */
function receive(request: LoadingParts): Promise<ReceiveMessage> | null {
  const json = (request.json ??= {
    content: contentHeaders(request.scope.headers),
    receiving: null,
    isLoaded: false,
    isFaulty: false,
    value: undefined,
  });
  if (json.content.encoding !== undefined) assertIdentity(json.content.encoding);
  if (json.isLoaded || request.requestIfMade !== null) return null;
  return json.content.length > request.settings.limits.bodyBytes ? null : (json.receiving ??= request.receive());
}

/**
 * Parses the body, once. A `Request` that is made later gets the message again.
 *
 * @param received - The result of {@link receive}.
 */
function take(request: LoadingParts, received: unknown): Promise<void> | void {
  const { json } = request;
  if (json === null || json.isLoaded) return;
  const message = received as ReceiveMessage | null;
  if (message !== null && request.requestIfMade === null) request.firstMessage = message;
  const isWhole = message?.type === "http.request" && message.more_body !== true;
  const body = isWhole ? (message.body ?? NO_BYTES) : null;
  if (body === null || body.length > request.settings.limits.bodyBytes) return takeParts(request, json);
  parse(request, json, body);
}

async function takeParts(request: LoadingParts, json: JSONBody): Promise<void> {
  const body = await request.request.body();
  if (!json.isLoaded) parse(request, json, body);
}

function parse(request: LoadingParts, json: JSONBody, body: Uint8Array): void {
  json.isLoaded = true;
  if (body.length === 0) return;
  const { limits, embedBody } = request.settings;
  const { type } = json.content;
  if (type !== JSON_TYPE && !isJSON(type)) {
    faultsOf(request, json).add("content_type", "Content-Type should be application/json", type ?? null, ["body"]);
    return;
  }
  try {
    json.value = parseJSON(body, limits.jsonDepth);
  } catch (error) {
    if (!(error instanceof JSONError)) throw error;
    faultsOf(request, json).add("json_invalid", error.message, undefined, ["body"]);
    return;
  }
  if (embedBody && !isRecord(json.value)) {
    faultsOf(request, json).add("object_type", "Input should be a valid object", json.value, ["body"]);
  }
}

/** The errors of the request, for an error of its body. */
function faultsOf(request: LoadingParts, json: JSONBody): Faults {
  json.isFaulty = true;
  return request.faults;
}

/** Compiles the reading of the whole body, or of one member of its object. */
function compileRead(parameter: Parameter): Read {
  const { name, marker, where } = parameter;
  const { check, maySuspend } = marker.compiled;
  const absent = absenceOf(marker, where);
  const wire = marker.wireName(name);
  const takesNull = marker.options.default === null;
  const whole = new Location(parameter, ["body"]);
  const member = new Location(parameter, ["body", wire]);
  return (request) => {
    const { json, settings } = request;
    if (json === null || json.isFaulty) return INVALID;
    let { value } = json;
    if (settings.embedBody && value !== undefined) value = memberOf(value as object, wire);
    const faults = maySuspend ? new Faults() : request.faults;
    const before = faults.count;
    const isNull = value === null && takesNull;
    const result = value === undefined ? absent.make(faults) : isNull ? null : check(value, faults);
    const location = settings.embedBody ? member : whole;
    if (maySuspend) return location.finishRead(request, faults, result);
    return faults.count === before ? result : location.mark(faults, before);
  };
}

function memberOf(body: object, name: string): unknown {
  return Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined;
}

/** The JSON body. */
export const BODY = createSource({
  kind: ParamKind.BODY,
  functionName: "Body",
  loc: "body",
  body: "json",
  load: [receive, take],
  ownOptions: { embed: FLAG },
  compileRead,
});

/**
 * The JSON body; one of several is a member of the body's object. Needs `Content-Type: application/json`.
 *
 * @example
 * ```ts
 * import { App, Body, t } from "tsgi";
 *
 * const app = new App();
 * const price = Body(t.Number({ minimum: 0 }), { embed: true });
 * app.put("/price", { params: { price } }, async ({ price }) => ({ price })); // takes {"price": 9.5}
 * ```
 */
export const Body: BodyFunction = createParamFunction(BODY);
