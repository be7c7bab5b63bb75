/** The context of a call on its way to a worker: a trace goes on there. @module */

/** A context in a form that travels, such as the headers of W3C Trace Context. */
export type CarriedContext = Readonly<Record<string, string>>;

/** Takes the current context along, and makes it current elsewhere. */
export interface ContextCarrier {
  /** The current context; `undefined` where there is none. */
  inject(): CarriedContext | undefined;
  /** Calls a function in a context that was carried here. */
  run<Result>(context: CarriedContext, fn: () => Result): Result;
}

/** A property of the global object, so that two copies of this package meet: one of the worker, one of a bundle. */
const CARRIER: unique symbol = Symbol.for("tsgi.contextCarrier");

const globals = globalThis as { [CARRIER]?: ContextCarrier };

/** Lets calls into workers take their context along. A worker has to set one as well. */
export function setContextCarrier(carrier: ContextCarrier): void {
  globals[CARRIER] = carrier;
}

/** The context for a call that is about to go to a worker. */
export function carriedContext(): CarriedContext | undefined {
  return globals[CARRIER]?.inject();
}

/** Calls a function in the context that came with its call. */
export function runInContext<Result>(context: CarriedContext | undefined, fn: () => Result): Result {
  const carrier = globals[CARRIER];
  return carrier === undefined || context === undefined ? fn() : carrier.run(context, fn);
}
