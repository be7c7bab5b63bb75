/** Trace context in the headers of requests. @module */
import type { Context, SpanContext, TextMapPropagator } from "@opentelemetry/api";
import type { HTTPScope, WebSocketScope } from "tsgi";
import { type CarriedContext, type ContextCarrier, headerValue } from "tsgi/internals";
import * as api from "@opentelemetry/api";

/** https://www.w3.org/TR/trace-context/#traceparent-header. Versions above 00 may have more behind the flags. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/;

function parse(traceparent: string, tracestate: string | undefined): SpanContext | null {
  const [, traceId = "", spanId = "", flags = ""] = TRACEPARENT.exec(traceparent) ?? [];
  const traceFlags = Number.parseInt(flags, 16) & api.TraceFlags.SAMPLED;
  const traceState = tracestate === undefined ? undefined : api.createTraceState(tracestate);
  const parsed = { traceId, spanId, traceFlags, isRemote: true, ...(traceState && { traceState }) };
  return api.isSpanContextValid(parsed) ? parsed : null;
}

/** W3C Trace Context, for a program that has set no propagator. */
const traceContext: Pick<TextMapPropagator, "inject" | "extract"> = {
  inject(context, carrier, setter) {
    const span = api.trace.getSpanContext(context);
    if (span === undefined || !api.isSpanContextValid(span)) return;
    setter.set(carrier, "traceparent", `00-${span.traceId}-${span.spanId}-0${span.traceFlags & 1}`);
    if (span.traceState) setter.set(carrier, "tracestate", span.traceState.serialize());
  },
  extract(context, carrier, getter) {
    const traceparent = getter.get(carrier, "traceparent");
    if (traceparent === undefined) return context;
    const tracestate = getter.get(carrier, "tracestate");
    const span = parse(String(traceparent), tracestate === undefined ? undefined : String(tracestate));
    return span === null ? context : api.trace.setSpanContext(context, span);
  },
};

/** The program's propagator, which reads no header until one is set. */
function propagator(): Pick<TextMapPropagator, "inject" | "extract"> {
  return api.propagation.fields().length > 0 ? api.propagation : traceContext;
}

const HEADERS = {
  get: ({ headers }: HTTPScope | WebSocketScope, name: string) => headerValue(headers ?? [], name.toLowerCase()),
  keys: ({ headers }: HTTPScope | WebSocketScope) =>
    Array.from(headers ?? [], ([name]) => Buffer.from(name).toString("latin1")),
};

/** The context of a request: the one of a span around it, else the one in its headers. */
export function contextOf(scope: HTTPScope | WebSocketScope): Context {
  const active = api.context.active();
  return api.trace.getSpan(active) === undefined ? propagator().extract(active, scope, HEADERS) : active;
}

/** Takes the active context into a worker. */
export const carrier: ContextCarrier = {
  inject() {
    const carried: Record<string, string> = {};
    propagator().inject(api.context.active(), carried, api.defaultTextMapSetter);
    return Object.keys(carried).length === 0 ? undefined : carried;
  },
  run<Result>(carried: CarriedContext, fn: () => Result): Result {
    return api.context.with(propagator().extract(api.ROOT_CONTEXT, carried, api.defaultTextMapGetter), fn);
  },
};
