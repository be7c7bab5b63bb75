/**
 * The order of events in one call: of a route, a WebSocket, work outside of requests, and a check of access. It is one order:
 * arguments, handler, result, cleanup of scope "function", transactions, response, tasks, cleanup of scope "request". After an
 * error, each dependency that has started gets the error in reverse order, before the response is made.
 */
import { describe, expect, it } from "@jest/globals";
import { access, type Failure, type Life, route, webSocket, work } from "./_lives.js";

const LIVES = { route, webSocket, work, access };

/** The events of the calls that can fail in this way. */
type Row = Partial<Record<keyof typeof LIVES, string>>;

const START = "request starts, function starts, the slower one ends";
const HANDLED = `${START}, transaction starts, handler`;
const ACCEPTED = `${START}, accept, handler`;
const CHECKED = `${HANDLED}, checked`;
const CONFIRMED = `${CHECKED}, function ends, confirmed`;
const RESPONDED = `${CONFIRMED}, head 200, body`;
const CLOSED = `${ACCEPTED}, function ends, close 1000`;
const WORKED = `${HANDLED}, function ends, confirmed`;
const ADMITTED = `${START}, transaction starts, function ends, undone`;
const FAILED = 'log "GET / failed", head 500, body';
const SOCKET_FAILED = 'log "WEBSOCKET / failed", close 1011';
const REFUSED = 'log "GET / failed", status 500, over';
const BROKEN = "function gets Broken, request gets Broken";
const CLEANUP_FAILED = 'log "The cleanup of the dependency dependency failed"';
const TASK_FAILED = 'log "Background task anonymous failed"';

const TABLE: Record<Failure | "nothing", Row> = {
  nothing: {
    route: `${RESPONDED}, task, request ends, over`,
    webSocket: `${CLOSED}, task, request ends, over`,
    work: `${WORKED}, request ends, over`,
    access: `${ADMITTED}, request ends, status null, over`,
  },
  "the start of the request scope": {
    route: `${FAILED}, over`,
    webSocket: `${SOCKET_FAILED}, over`,
    work: "over with Broken",
    access: REFUSED,
  },
  "the start of the function scope": {
    route: `request starts, request gets Broken, ${FAILED}, over`,
    webSocket: `request starts, request gets Broken, ${SOCKET_FAILED}, over`,
    work: "request starts, request gets Broken, over with Broken",
    access: `request starts, request gets Broken, ${REFUSED}`,
  },
  "one of two dependencies side by side": {
    route: `request starts, function starts, ${BROKEN}, ${FAILED}, the slower one ends, over`,
    webSocket: `request starts, function starts, ${BROKEN}, ${SOCKET_FAILED}, the slower one ends, over`,
    work: `request starts, function starts, ${BROKEN}, the slower one ends, over with Broken`,
    access: `request starts, function starts, ${BROKEN}, log "GET / failed", the slower one ends, status 500, over`,
  },
  "the start of a transaction": {
    route: `${START}, ${BROKEN}, ${FAILED}, over`,
    work: `${START}, ${BROKEN}, over with Broken`,
    access: `${START}, ${BROKEN}, ${REFUSED}`,
  },
  "the handler": {
    route: `${HANDLED}, undone by Broken, ${BROKEN}, ${FAILED}, task, over`,
    webSocket: `${ACCEPTED}, ${BROKEN}, ${SOCKET_FAILED}, task, over`,
    work: `${HANDLED}, undone by Broken, ${BROKEN}, over with Broken`,
  },
  "the check of the result": {
    route: `${HANDLED}, undone by Broken, ${BROKEN}, ${FAILED}, task, over`,
  },
  // The result is dropped, and its tasks with it.
  "the end of the function scope": {
    route: `${CHECKED}, undone by Broken, request gets Broken, ${FAILED}, over`,
    webSocket: `${ACCEPTED}, request gets Broken, ${SOCKET_FAILED}, over`,
    work: `${HANDLED}, undone by Broken, request gets Broken, over with Broken`,
    access: `${START}, transaction starts, undone by Broken, request gets Broken, ${REFUSED}`,
  },
  "the confirmation": {
    route: `${CHECKED}, function ends, request gets Broken, ${FAILED}, over`,
    work: `${HANDLED}, function ends, request gets Broken, over with Broken`,
  },
  // The server cuts the connection, and then waits for the task.
  "the head": {
    route: `${CONFIRMED}, request gets Broken, log "GET / failed", over with Broken, task`,
    webSocket: `${START}, ${BROKEN}, ${SOCKET_FAILED}, over`,
  },
  "the body": {
    route: `${CONFIRMED}, head 200, request gets Broken, log "GET / failed", over with Broken, task`,
  },
  "a task": {
    route: `${RESPONDED}, ${TASK_FAILED}, request ends, over`,
    webSocket: `${CLOSED}, ${TASK_FAILED}, request ends, over`,
  },
  "the end of the request scope": {
    route: `${RESPONDED}, task, ${CLEANUP_FAILED}, over`,
    webSocket: `${CLOSED}, task, ${CLEANUP_FAILED}, over`,
    work: `${WORKED}, ${CLEANUP_FAILED}, over`,
    access: `${ADMITTED}, ${CLEANUP_FAILED}, status null, over`,
  },
  "an invalid parameter": {
    route: `${START}, function gets RequestValidationError, request gets RequestValidationError, head 422, body, over`,
    webSocket: `${START}, function gets RequestValidationError, request gets RequestValidationError, close 1008, over`,
  },
  // The handler cannot be stopped: it hears of it, and what it does then is dropped.
  "the time limit": {
    route:
      `${HANDLED}, undone by HandlerTimeout, abort by TimeoutError, function gets HandlerTimeout, ` +
      "request gets HandlerTimeout, head 504, body, task, over",
    work:
      `${HANDLED}, abort by TimeoutError, undone by TimeoutError, function gets TimeoutError, ` +
      "request gets TimeoutError, over with TimeoutError",
  },
  "a client that disconnects during the handler": {
    route:
      `${HANDLED}, abort by AbortError, undone by AbortError, function gets AbortError, request gets AbortError, ` +
      "task, over",
    webSocket: `${ACCEPTED}, abort by AbortError, function gets AbortError, request gets AbortError, task, over`,
  },
  // The work is done: it is not undone because its client did not wait for the response.
  "a client that disconnects before the head": {
    route: `${CONFIRMED}, task, request ends, over`,
  },
};

describe.each(Object.entries(TABLE))("after a failure: %s", (failure, row) => {
  it.each(Object.entries(row))("the events of the call (%s) are in their order", async (name, events) => {
    const life: Life = LIVES[name as keyof typeof LIVES];
    expect(await life(failure === "nothing" ? null : (failure as Failure))).toEqual(events.split(", "));
  });
});
