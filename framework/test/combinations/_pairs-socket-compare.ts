/** Compares an observed WebSocket with the model. @module */
import { Differences } from "./_pairs-compare.js";
import type { SeenSocket } from "./_pairs-socket-client.js";
import type { SocketCombination } from "./_pairs-socket-factors.js";
import { predictSocket } from "./_pairs-socket-model.js";
import type { Trace } from "./_pairs-trace.js";

/** The lines in which an observation differs from the model. */
export function socketDifferences(c: SocketCombination, seen: SeenSocket, trace: Trace): string[] {
  const expected = predictSocket(c);
  const found = new Differences();
  found.compare("status", seen.status, expected.status);
  found.compare("close code", seen.close?.code, expected.close?.code);
  found.compare("close reason", seen.close?.reason, expected.close?.reason);
  for (const [name, wanted] of Object.entries(expected.headers ?? {})) {
    found.compare(name, seen.headers[name] ?? null, wanted);
  }
  if (expected.body === "one fault") found.compare("body", countFaults(seen.body), 1);
  else if (expected.body !== undefined) found.compare("body", seen.body, JSON.stringify(expected.body));
  found.compare("message", shown(seen.message), expected.message);
  found.compare("events", trace.events, expected.events);
  found.count("lines at level error", trace.linesAt("error"), expected.errors);
  found.count("lines at level warn", trace.linesAt("warn"), expected.warnings);
  if (c.observed === "yes") {
    found.compare("observed route", trace.route, expected.route);
    found.compare("observed status", trace.status, expected.observedStatus);
    found.compare("observed error", trace.isFailure, expected.isFailure);
  }
  return found.lines;
}

const countFaults = (body = ""): number => (JSON.parse(body) as { detail: readonly unknown[] }).detail.length;

function shown(message: SeenSocket["message"]): unknown {
  if (typeof message !== "string") return message === undefined ? null : [...message];
  return message.startsWith("{") ? JSON.parse(message) : message;
}
