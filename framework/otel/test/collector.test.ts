import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { Program } from "../../core/test/platforms/concurrency/_program.js";
import { installOnDemand, IS_SLOW } from "../../test/support/on-demand.js";
import { startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";

const PACKAGES = ["@opentelemetry/exporter-trace-otlp-http@0.223.1", "@opentelemetry/instrumentation-pg@0.76.0"];

/** A span as OTLP writes it in JSON. */
interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  /** 2 is a server's, 3 a client's. */
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

/** An OTLP collector on the loopback interface that keeps the spans. */
async function startCollector() {
  const spans: Span[] = [];
  const keep = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks = await request.toArray();
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as Export;
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    response.setHeader("content-type", "application/json").end("{}");
  };
  const server = createServer((request, response) => void keep(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const dispose = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { spans, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: dispose };
}

const describeWithCluster = IS_SLOW && WITHOUT_CLUSTER === null ? describe : describe.skip;

describeWithCluster("openTelemetry with an exporter and a database driver (with TSGI_SLOW=1 and PostgreSQL)", () => {
  it("exports by OTLP the queries of each place of a request as children of its span", async () => {
    const folder = installOnDemand("otel", PACKAGES);
    await using cluster = await startCluster();
    await using collector = await startCollector();
    const fixture = path.join(import.meta.dirname, "fixtures/exporting.js");
    const place = path.relative(
      path.join(import.meta.dirname, "../../core/test/platforms/concurrency/fixtures"),
      fixture,
    );
    await using program = Program.start(place, [folder, collector.url, cluster.url]);
    const url = await program.said(/serves (\S+)/);
    const server = (await (await fetch(`${url}/orders/5`)).json()) as { traceId: string; spanId: string };
    program.kill("SIGTERM");
    await program.ended;
    const mine = collector.spans.filter(({ traceId }) => traceId === server.traceId);
    expect(mine.find(({ spanId }) => spanId === server.spanId)).toMatchObject({ name: "GET /orders/{id}", kind: 2 });
    const queries = mine.flatMap(({ attributes, kind, parentSpanId }) => {
      const text = attributes.find(({ key }) => /^db\.(statement|query\.text)$/.test(key))?.value.stringValue;
      return text === undefined ? [] : [{ text, kind, parentSpanId }];
    });
    expect(queries.toSorted((left, right) => left.text.localeCompare(right.text))).toEqual(
      ["cleanup", "dependency", "handler", "task"].map((name) => ({
        text: `select '${name}' as text`,
        kind: 3,
        parentSpanId: server.spanId,
      })),
    );
    const steps = mine.filter(({ kind }) => kind === 1).map(({ name, parentSpanId }) => [name, parentSpanId]);
    expect(steps).toContainEqual(["dependency getClient", server.spanId]);
  });
});
