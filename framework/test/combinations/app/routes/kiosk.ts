/** The self-service kiosk: parameters, handlers and helpers that are written apart, each with its type. @module */
import {
  type Args,
  type CallbackOperation,
  type Check,
  Depends,
  type DependsMarkerOf,
  type FromParams,
  type FromPath,
  type HandlerArgs,
  type HandlerResult,
  Header,
  type MarkedEvent,
  type Marker,
  type MediaTypeDoc,
  type MultiVerb,
  type Notice,
  Path,
  type PathMarker,
  Query,
  type ResponseDoc,
  type Returns,
  Router,
  type SchemaBuilder,
  type SocketContext,
  type SocketVerb,
  type SourceMarkerOf,
  t,
  type TextMarker,
  type Verb,
  event,
  type WebSocketOptions,
  type WithDefault,
  type WithParams,
  withParams,
} from "tsgi";
import {
  OffsetPage,
  type OffsetPageRequest,
  type OffsetPages,
  Page,
  type PageRequest,
  type Pages,
} from "tsgi/pagination";
import { type Library, library } from "../library.js";
import { Tool } from "../models.js";

/** The builder of schemas, with names that the forms of the kiosk share. */
const builder: SchemaBuilder = t;
const Amount: ReturnType<SchemaBuilder["Integer"]> & WithDefault = builder.Integer({ default: 1, minimum: 1 });

const slot: PathMarker<number, ReturnType<SchemaBuilder["Integer"]>> = Path(t.Integer({ minimum: 1 }));
const language: TextMarker<"header"> = Header();
const amount: SourceMarkerOf<number, "query", typeof Amount> = Query(Amount);

const slotParams = { slot, language, amount };

/** Describes a slot of the kiosk, in the language of the visitor. */
async function describeSlot({
  slot: number,
  language: spoken,
  amount: count,
}: Args<typeof slotParams>): Promise<string> {
  return `${spoken}: ${count} × slot ${number}`;
}

const findSlot: typeof describeSlot & WithParams<typeof slotParams, Promise<string>> = withParams(
  slotParams,
  describeSlot,
);
const described: DependsMarkerOf<string, typeof slotParams> = Depends(findSlot);

const isOpen: Check<Library> = (opened) => opened.isOpen;
const opened: Marker<Library> = Depends(async () => ({ isOpen: true }) as Library, { scope: "app", check: isOpen });

const readParams = { described, opened };

const Slot = t.Object({ text: t.String(), raw: t.String() }, { $id: "Slot" });
const SLOT: Returns = Slot;

const asText: MediaTypeDoc = { schema: t.String(), examples: ["slot 1"] };
const ok: ResponseDoc = { description: "A slot.", content: { "text/plain": asText } };

/** A router below a prefix, with its rare verbs. */
interface Help extends Pick<Router<"/kiosk">, keyof Router> {
  readonly head: Verb<"HEAD">;
  readonly route: MultiVerb;
}

function addHelp(on: Help) {
  on.head("/closed", { includeInSchema: false }, async () => null);
  on.route("/help", { methods: ["GET", "POST"], responses: { 200: ok } }, async () => SLOT === Slot);
}

const Pressed = t.Object({ key: t.String({ maxLength: 1 }) });
const Shown = t.Object({ text: t.String() });

/** Shows each key that a visitor presses. */
async function show({ ws, slot: name }: SocketContext<typeof Pressed, typeof Shown> & FromPath<"slot">): Promise<void> {
  await ws.accept();
  for await (const { key } of ws) await ws.sendJson({ text: `${name}${key}` });
}

const keys: WebSocketOptions<{}, typeof Pressed, typeof Shown> = { receives: Pressed, sends: Shown, tags: ["kiosk"] };

function addKeys(websocket: SocketVerb<"/kiosk">): void {
  websocket("/slots/{slot}/keys", keys, show);
}

/** The page of a list, by either kind of page. */
const windowOf = ({ offset, limit }: OffsetPageRequest) => [offset, offset + limit] as const;
const after = ({ after: cursor }: PageRequest<{ id: number }>) => cursor?.id ?? 0;

const byOffset: OffsetPages<typeof Tool> = OffsetPage(Tool, { defaultLimit: 1 });
const byCursor: Pages<typeof Tool, { id: number }> = Page(Tool, { cursor: t.Object({ id: t.Integer() }) });

/** A sign between events, which is not data. */
const sign = (text: string): MarkedEvent & Notice => event({ comment: text });

export const router = new Router({ prefix: "/kiosk", tags: ["kiosk"] });

addHelp(router);
export const lookup = router.get(
  "/slots/{slot}",
  { params: readParams, returns: Slot },
  async ({ described: text, slot: raw }: HandlerArgs<typeof readParams, "/slots/{slot}">) => ({ text, raw }),
);
addKeys(router.websocket);

export const pages = router.get(
  "/pages",
  { params: { page: byOffset.page, library }, returns: byOffset.returns },
  async ({ page, library }) => {
    const tools = [...library.tools.values()];
    return page.of(tools.slice(...windowOf(page)), tools.length);
  },
);

export const rest = router.get(
  "/rest",
  { params: { page: byCursor.page, library }, returns: byCursor.returns },
  async ({ page, library }) => {
    const rows = [...library.tools.values()].filter(({ id }) => id > after(page));
    return page.of(rows, ({ id }) => ({ id }));
  },
);

export const signs = router.get("/signs", { stream: "sse", returns: t.String() }, async function* () {
  yield sign("wet floor");
  yield "slot 1";
});

const restocked: CallbackOperation = { params: { tool: Tool }, statusCode: 204, summary: "A slot was filled" };

const Subscription = t.Object({ url: t.String(), by: t.String() }, { $id: "Subscription" });
const subscriptionParams = { url: Query(t.String({ format: "uri" })), by: Query() };

export const subscribe = router.post(
  "/subscriptions",
  {
    params: subscriptionParams,
    returns: Subscription,
    callbacks: { restocked: { "{$request.query.url}": { put: restocked } } },
  },
  async (given: FromParams<typeof subscriptionParams>): Promise<HandlerResult<typeof Subscription>> => given,
);
