/** The statements about applications and their lifespan. @module */
import type { LifespanScope } from "tsgi";
import { ApplicationCall, lifespanScope } from "./application-call.js";
import { mustLeaveScope } from "./application-http.js";
import type { ApplicationFeature, ApplicationSubject } from "./application-subject.js";
import { inTime, must, mustEqual, type Statement, toStatements } from "./statement.js";

type Subject = ApplicationSubject;

/** Starts an application. Gives `null` for one that throws: it is without a lifespan, which ASGI allows. */
async function startUp(subject: Subject, scope: LifespanScope): Promise<ApplicationCall | null> {
  const call = new ApplicationCall(subject, scope, [{ type: "lifespan.startup" }]);
  const answer = await call.next(0);
  if (answer === null) {
    const outcome = await inTime(call.settled, "the application to end");
    must(outcome !== "returned", "Expected a response to lifespan.startup, or an error.");
    return null;
  }
  mustEqual(answer.type, "lifespan.startup.complete", "the response to lifespan.startup");
  return call;
}

/** Starts an application, and ends it. */
async function live(subject: Subject, scope = lifespanScope()): Promise<ApplicationCall | null> {
  const call = await startUp(subject, scope);
  if (call === null) return null;
  call.give({ type: "lifespan.shutdown" });
  await call.finished();
  return call;
}

async function checkStartUp(subject: Subject): Promise<void> {
  const call = await live(subject);
  mustEqual(call?.early ?? 0, 0, "the number of messages before lifespan.startup is received");
}

async function checkShutdown(subject: Subject): Promise<void> {
  const call = await live(subject);
  if (call === null) return;
  const types = call.sent.map(({ type }) => type);
  mustEqual(types, ["lifespan.startup.complete", "lifespan.shutdown.complete"], "the messages of the application");
}

async function checkStateless(subject: Subject): Promise<void> {
  const { type } = lifespanScope();
  await live(subject, { type });
}

async function checkScope(subject: Subject): Promise<void> {
  const scope = lifespanScope();
  await mustLeaveScope(scope, () => live(subject, scope));
}

export const lifespanApplicationStatements: readonly Statement<Subject, ApplicationFeature>[] = toStatements(
  "lifespan",
  [],
  [
    [
      "lifespan.scope.untouched",
      "should",
      "main#middleware",
      "The application does not change the server's keys of the scope; it may add keys and change `state`.",
      checkScope,
    ],
    [
      "lifespan.scope.optional-keys",
      "must",
      "lifespan#scope",
      "The application starts where the scope is without its optional keys.",
      checkStateless,
    ],
    [
      "lifespan.startup",
      "must",
      "lifespan#startup-complete-send-event",
      "The application responds to `lifespan.startup`, or throws if it does not support lifespan.",
      checkStartUp,
    ],
    [
      "lifespan.shutdown",
      "must",
      "lifespan#shutdown-complete-send-event",
      "The application responds to `lifespan.shutdown` once, and returns.",
      checkShutdown,
    ],
  ],
);
