/** Loans at the desk: nested routers with guards, errors on every level, callbacks. @module */
import {
  BackgroundTasks,
  type Callbacks,
  Depends,
  type ExceptionHandlersInit,
  Header,
  HTTPException,
  type IncludeOptions,
  JSONResponse,
  Path,
  Request,
  type RouteOptions,
  Router,
  type RouterLifespan,
  type RouterOptions,
  t,
} from "tsgi";
import { getClerk, requires } from "../auth.js";
import { routeHandlers, routerHandlers } from "../errors.js";
import { findTool, library } from "../library.js";
import { servedBy } from "../middleware.js";
import { Loan, NOT_FOUND, Problem } from "../models.js";

/** Opens the desk, in the state of every request. */
const openDesk: RouterLifespan = async function* () {
  yield { desk: "open" };
};

const options: RouterOptions<"/loans"> = {
  prefix: "/loans",
  tags: ["loans"],
  middleware: [servedBy("loans")],
  exceptionHandlers: routerHandlers,
  lifespan: openDesk,
};

export const router = new Router(options);

const returned: Callbacks = {
  returned: {
    "{$request.query.callback_url}": {
      post: {
        params: { loan: Loan, signature: Header() },
        statusCode: 204,
        responses: { 410: { description: "No more." } },
      },
    },
  },
};

export const lend = router.post(
  "/{tool_id}",
  {
    params: {
      tool: Depends(findTool),
      member: requires("tools"),
      days: t.Integer({ minimum: 1, maximum: 14, default: 7 }),
      callback_url: t.Optional(t.String({ format: "uri" })),
      library,
      tasks: BackgroundTasks,
    },
    returns: Loan,
    statusCode: 201,
    responses: {
      ...NOT_FOUND,
      409: { description: "Somebody has it.", schema: Problem },
      423: { description: "Broken." },
    },
    callbacks: returned,
    exceptionHandlers: routeHandlers,
  },
  async ({ tool, member, days, library, tasks }) => {
    const loan = library.lend(tool, member.name, new Date(tool.added.getTime() + days * 86_400_000));
    tasks.addTask(async () => library.note("tasks", `${member.name} borrowed ${tool.name}`));
    tasks.addTask(() => {
      throw new Error("the postman is ill");
    });
    tasks.addTask(() => library.note("tasks", "the next task runs"));
    return loan;
  },
);

export const readLoan = router.get(
  "/{loan_id}",
  { params: { loan_id: t.Integer(), library, request: Request }, returns: Loan, responses: NOT_FOUND },
  async ({ loan_id, library }) => {
    const loan = library.loans.get(loan_id);
    if (!loan) throw new HTTPException(404, "There is no such loan", { headers: { "x-loan": String(loan_id) } });
    return loan;
  },
);

export const teapot = router.get("/pots/tea", async () => {
  throw new HTTPException(418);
});

export const broken = router.get("/pots/broken", { returns: t.Object({ n: t.Integer() }) }, async () => {
  return JSON.parse('{"n":"not a number"}') as { n: number };
});

export const thrown = router.get("/pots/thrown", async () => {
  throw new Error("a secret of the database");
});

const clerkHandlers: ExceptionHandlersInit = [
  [HTTPException, (error: HTTPException) => new JSONResponse({ desk: error.detail }, error)],
];

/** The desk: by name and password, below a prefix with a custom name. */
const desk = new Router({ prefix: "/desks/{desk}", dependencies: [Depends(getClerk)], tags: ["desk"] });

const stateOptions: RouteOptions = { params: { desk: Path(), request: Request }, summary: "Whether the desk is open" };

desk.get("/state", stateOptions, async (args) => {
  const { desk: name, request } = args as { desk: string; request: Request };
  return { desk: name, state: request.state["desk"] };
});
desk.get("/closed", async () => {
  throw new HTTPException(409, "The desk is closed");
});

const inclusion: IncludeOptions = {
  prefix: "/inner",
  middleware: [servedBy("desk")],
  exceptionHandlers: clerkHandlers,
  responses: { 401: { description: "Who are you?" } },
};

router.includeRouter(desk, inclusion);
