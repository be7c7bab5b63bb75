/** Streams: lines of JSON, events, files that are made while they are sent. @module */
import {
  type DataEvent,
  Depends,
  event,
  type EventOf,
  type EventSchemaMap,
  type EventSchemas,
  type EventSourceOptions,
  EventSourceResponse,
  type ValidationIssue,
  lastEventId,
  type NamedEvent,
  type Notice,
  PlainTextResponse,
  Request,
  type ResponseOptions,
  Router,
  type ServerSentEvent,
  type StreamContent,
  type StreamFormat,
  StreamingResponse,
  t,
  withParams,
} from "tsgi";
import { getVisitor } from "../auth.js";
import { library } from "../library.js";
import { loanEvents, Tool } from "../models.js";

type Events = typeof loanEvents extends EventSchemas<infer Map extends EventSchemaMap> ? Map : never;
type LoanEvent = EventOf<Events>;

const sse: StreamFormat = "sse";

/** Notes when a stream that reads from it is over. */
const reading = withParams({ library }, async function* ({ library }) {
  yield library;
  library.note("streams", "cleaned up");
});

export const router = new Router({ prefix: "/feeds", tags: ["feeds"] });

export const allTools = router.get(
  "/tools",
  { params: { source: Depends(reading) }, returns: Tool },
  async function* ({ source }) {
    for (const tool of source.tools.values()) yield { ...tool, secret: "not in the schema" };
  },
);

export const countdown = router.get(
  "/countdown/{from}",
  { params: { from: t.Integer({ maximum: 100 }) } },
  function* ({ from }) {
    for (let n = from; n > 0; n--) yield { n };
  },
);

export const loans = router.get(
  "/loans",
  { params: { library, visitor: Depends(getVisitor, { optional: true }) }, stream: sse, returns: loanEvents },
  async function* ({ library, visitor }): AsyncGenerator<LoanEvent | Notice> {
    const tool = library.tools.get(1)!;
    yield event({ retry: 5000 });
    yield { event: "borrowed", data: { id: 1, tool, by: visitor?.name ?? "somebody", until: tool.added }, id: 7 };
    const over: NamedEvent<"returned", { tool: number }> = { event: "returned", data: { tool: 1 } };
    yield over;
    yield event({ comment: "nothing more" });
    yield { event: "end", data: null };
  },
);

export const ticks = router.get("/ticks", { stream: sse, returns: t.Object({ at: t.Integer() }) }, async function* () {
  yield { at: 1 };
  const second: DataEvent<{ at: number }> = event({ id: 2, event: "tick", data: { at: 2 } });
  yield second;
});

/** Events that a client sends are data, with any names. */
export const messages = router.get("/messages", { stream: sse }, async () => [
  { event: "admin", retry: 1 },
  { data: "x" },
]);

const keepAlive: EventSourceOptions = { keepAliveMs: 0, headers: { "x-feed": "numbers" } };

function* numbers(first: number): Iterable<ServerSentEvent> {
  for (let id = first; id <= 3; id++) yield { id, event: "number", data: `line ${id}\nmore` };
}

export const resumed = router.get("/numbers", { params: { request: Request } }, async ({ request }) => {
  return new EventSourceResponse(numbers(Number(lastEventId(request) ?? 0) + 1), keepAlive);
});

const asCSV: ResponseOptions = {
  mediaType: "text/csv",
  headers: { "content-disposition": 'attachment; filename="tools.csv"' },
};

async function* lines(tools: Iterable<Tool>): StreamContent {
  yield "id,name\n";
  for (const { id, name } of tools) yield `${id},${name}\n`;
}

export const exported = router.get(
  "/tools.csv",
  { params: { library }, responses: { 200: { content: { "text/csv": { schema: t.String() } } } } },
  async ({ library }) => new StreamingResponse(lines(library.tools.values()), asCSV),
);

export const bytes = router.get("/bytes/{count}", { params: { count: t.Integer() } }, async ({ count }) => {
  const parts = Array.from({ length: count }, (_, index) => new Uint8Array([index, 255 - index]));
  return new StreamingResponse(parts, { mediaType: "application/octet-stream" });
});

/** Continues until its client disconnects. */
export const endless = router.get(
  "/endless",
  { params: { library, signal: AbortSignal } },
  async function* ({ library, signal }) {
    try {
      for (let n = 0; ; n++) {
        yield { n };
        if (signal.aborted) return;
      }
    } finally {
      library.note("streams", "endless ended");
    }
  },
);

/** Fails after its first item. */
export const failing = router.get("/failing", { returns: t.Object({ n: t.Integer() }) }, async function* () {
  yield { n: 1 };
  throw new Error("the source is away");
});

/** Yields an item that does not fit its schema. */
export const unfit = router.get("/unfit", { returns: t.Object({ n: t.Integer() }) }, async function* () {
  yield JSON.parse('{"n":"x"}') as { n: number };
});

export const empty = router.get("/empty", { returns: Tool }, async function* () {
  yield* [];
});

/** The errors of the last stream, in words. */
export const sayFaults = (faults: readonly ValidationIssue[]) =>
  new PlainTextResponse(faults.map(({ msg }) => msg).join("\n"));
