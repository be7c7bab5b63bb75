/** The tools: every kind of parameter, pages, and changes that are kept as a whole or not at all. @module */
import {
  BackgroundTasks,
  Body,
  type BodyOptions,
  Cookie,
  Depends,
  type DependsOptions,
  Header,
  HTTPException,
  Path,
  Query,
  Request,
  Response,
  Router,
  type SourceOptions,
  t,
  type ToolOptions,
} from "tsgi";
import { OffsetPage, type OffsetPageOptions, Page, type PageOptions } from "tsgi/pagination";
import { getVisitor, notesVisit, requires } from "../auth.js";
import { changing, findTool, library } from "../library.js";
import { closable, measured, servedBy } from "../middleware.js";
import { Availability, Category, Kind, Listed, NewTool, Note, NOT_FOUND, Place, Review, Tool } from "../models.js";

const cursor = t.Object({ id: t.Integer() });
const pageOptions: PageOptions<typeof cursor> = { cursor, defaultLimit: 2, maxLimit: 10 };
const offsetOptions: OffsetPageOptions = { defaultLimit: 2, maxLimit: 10, maxOffset: 100 };
const byCursor = Page(Tool, pageOptions);
const byOffset = OffsetPage(Tool, offsetOptions);
const optional: DependsOptions<true> = { optional: true };
const committed: DependsOptions<false> = { scope: "function" };
const searched = {
  description: "A part of the name.",
  examples: ["dri"],
  alias: "search-text",
} as const satisfies SourceOptions;
const embedded: BodyOptions = { embed: true, description: "What it costs for a day." };
const tool: ToolOptions = { name: "find_tool", description: "One tool of the library, by its number." };

export const router = new Router({
  prefix: "/tools",
  tags: ["tools"],
  dependencies: [Depends(notesVisit)],
  middleware: [servedBy("tools"), closable],
});

export const listTools = router.get(
  "",
  { params: { page: byCursor.page, library }, returns: byCursor.returns, responses: byCursor.responses },
  async ({ page, library }) => {
    const after = page.after?.id ?? 0;
    const rows = [...library.tools.values()].filter(({ id }) => id > after).slice(0, page.limit + 1);
    return page.of(rows, ({ id }) => ({ id }));
  },
);

export const listByOffset = router.get(
  "/by-offset",
  { params: { page: byOffset.page, library }, returns: byOffset.returns, responses: byOffset.responses },
  async ({ page, library }) => {
    const tools = [...library.tools.values()];
    return page.of(tools.slice(page.offset, page.offset + page.limit), tools.length);
  },
);

export const searchTools = router.get(
  "/search",
  {
    params: {
      text: Query(t.String({ minLength: 2 }), searched),
      tags: Query(t.Array(t.String()), { default: [] }),
      kind: t.Optional(Kind),
      since: t.Optional(t.Date()),
      limit: Query(t.Integer({ minimum: 1 }), { default: 5 }),
      isFree: Query(t.Boolean(), { default: false, alias: "free" }),
      userAgent: Header({ default: null }),
      theme: Cookie({ default: "light", deprecated: true }),
      trace: Query({ default: null, includeInSchema: false }),
      library,
    },
    returns: Listed(t.Pick(Tool, ["id", "name"])),
    summary: "Find tools by a part of their name",
  },
  async ({ text, tags, kind, since, limit, library }) => {
    const found = [...library.tools.values()].filter(
      (one) =>
        one.name.toLowerCase().includes(text.toLowerCase()) &&
        tags.every((tag) => one.tags.includes(tag)) &&
        (kind ?? one.kind) === one.kind &&
        (since ?? one.added) <= one.added,
    );
    return { count: found.length, items: found.slice(0, limit) };
  },
);

export const filterTools = router.get(
  "/filter",
  {
    params: {
      filter: Query(
        t.Object({ kind: t.Optional(Kind), max_price: t.Number({ default: 10 }) }, { additionalProperties: false }),
      ),
      wanted: Header(t.Object({ "x-color": t.String({ default: "any" }), "x-size": t.Integer({ default: 1 }) })),
      cookies: Cookie(t.Object({ a: t.Optional(t.String()), n: t.Integer({ default: 0 }) })),
    },
    returns: t.Record(t.String(), t.Unknown()),
  },
  async ({ filter, wanted, cookies }) => ({ filter, wanted, cookies }),
);

export const findToolRoute = router.get(
  "/{tool_id}",
  {
    params: { tool: Depends(findTool), visitor: Depends(getVisitor, optional), response: Response },
    returns: Tool,
    responses: NOT_FOUND,
    mcp: tool,
  },
  async ({ tool, visitor, response }) => {
    response.headers.set("x-visitor", visitor?.name ?? "nobody");
    return tool;
  },
);

export const addTool = router.post(
  "",
  {
    params: {
      tool: NewTool,
      member: requires("tools"),
      library: Depends(changing, committed),
      response: Response,
      tasks: BackgroundTasks,
    },
    returns: Tool,
    statusCode: 201,
    middleware: [measured],
    mcp: { name: "add_tool" },
  },
  async ({ tool, member, library, response, tasks }) => {
    const added = library.add(tool);
    if (tool.tags.includes("refused")) throw new HTTPException(409, "We have enough of these");
    response.headers.set("location", `/v1/tools/${added.id}`);
    tasks.addTask((name: string) => library.note("tasks", `${member.name} told the others of ${name}`), tool.name);
    return added;
  },
);

export const replaceTool = router.put(
  "/{tool_id}",
  { params: { found: Depends(findTool), tool: NewTool, library }, returns: Tool, deprecated: true },
  async ({ found, tool, library }) => {
    const replaced = { ...found, ...tool };
    library.tools.set(found.id, replaced);
    return replaced;
  },
);

export const changeTool = router.patch(
  "/{tool_id}",
  {
    params: {
      tool_id: Path(t.Integer(), { description: "The number of the tool." }),
      name: Body(t.String({ minLength: 1 }), { description: "Its new name.", examples: ["Big drill"] }),
      tags: Body(t.Array(t.String()), { default: [] }),
      found: Depends(findTool),
    },
    returns: t.Composite([t.Omit(Tool, ["price"]), t.Object({ was: t.String() })]),
  },
  async ({ name, tags, found }) => ({ ...found, name, tags, was: found.name }),
);

export const priceTool = router.put(
  "/{tool_id}/price",
  { params: { price: Body(t.Number({ minimum: 0 }), embedded), found: Depends(findTool) }, returns: t.Number() },
  async ({ price }) => price,
);

export const removeTool = router.delete(
  "/{tool_id}",
  { params: { found: Depends(findTool), library, member: requires("desk") }, statusCode: 204 },
  async ({ found, library }) => {
    library.tools.delete(found.id);
    return new Response(null, { statusCode: 204 });
  },
);

export const availability = router.get(
  "/{tool_id}/availability",
  { params: { tool: Depends(findTool) }, returns: Availability },
  async ({ tool }) =>
    tool.id === 1
      ? { state: "borrowed" as const, by: "bob", until: tool.added, secret: "not in the schema" }
      : { state: "free" as const },
);

export const reviewTool = router.post(
  "/{tool_id}/reviews",
  { params: { tool_id: t.Integer(), review: Review }, returns: Review, statusCode: 201, tags: ["reviews"] },
  async ({ review }) => ({ ...review, by: review.by && { ...review.by, email: "not in the schema" } }),
);

export const noteTool = router.post(
  "/{tool_id}/notes",
  { params: { tool_id: t.Integer(), note: Note }, returns: Note, tags: ["reviews"] },
  async ({ note }) => note,
);

export const placeOf = router.get(
  "/places/{place}",
  { params: { place: Path(Place) }, returns: t.Object({ row: t.Integer(), shelf: t.Integer() }) },
  async ({ place }) => place as unknown as { row: number; shelf: number },
);

export const addCategory = router.post(
  "/categories",
  { params: { category: Category }, returns: Category },
  async ({ category }) => category,
);

export const status = router.route(
  "/{tool_id}/status",
  { methods: ["GET", "PUT"], params: { tool_id: t.Integer(), request: Request } },
  async ({ tool_id, request }) => ({ tool_id, method: request.method }),
);

export const optionsOfTools = router.options("", async () => new Response(null, { headers: { allow: "GET, POST" } }));

export const headOfStock = router.head("/stock/count", { params: { library } }, async ({ library }) => {
  return new Response(null, { headers: { "x-count": String(library.tools.size) } });
});

export const traceTools = router.trace("/echo/{word}", async ({ word }) => word);

export const decorated = router.get("/decorated/{word}", { params: { times: t.Integer({ default: 1 }) } })(
  async ({ word, times }: { word: string; times: number }) => word.repeat(times),
);
