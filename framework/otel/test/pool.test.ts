import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { Program } from "../../core/test/platforms/concurrency/_program.js";

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent?: string;
}

const FIXTURE = path.join(import.meta.dirname, "fixtures/pooled.js");
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

describe.each(["process", "thread"])("openTelemetry and a non-async handler in a %s", (kind) => {
  it("makes the server span current there as a remote one, and a span for the call into the pool", async () => {
    await using program = Program.start(
      path.relative(path.join(import.meta.dirname, "../../core/test/platforms/concurrency/fixtures"), FIXTURE),
      [kind, "serve"],
    );
    const url = await program.said(/serves (\S+)/);
    const headers = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
    const there = (await (await fetch(`${url}/plain`, { headers })).json()) as Span & { pid: number };
    const spans = (await (await fetch(`${url}/spans`)).json()) as Span[];
    const server = spans.find(({ name }) => name === "GET /plain");
    expect(there.pid === program.child.pid).toBe(kind === "thread");
    expect(there).toMatchObject({ traceId: TRACE, spanId: server?.spanId, traceFlags: 1, isRemote: true });
    expect(server).toMatchObject({ traceId: TRACE, parent: "00f067aa0ba902b7" });
    expect(spans.find(({ name }) => name === "pool plain")).toMatchObject({ traceId: TRACE, parent: server?.spanId });
  });
});
