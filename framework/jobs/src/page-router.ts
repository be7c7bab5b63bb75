/** `jobs.router()`: a page that lists jobs, shows them, retries and cancels them. @module */
import { Depends, HTTPException, HTMLResponse, Path, Query, Request, Response, Router, t, withParams } from "tsgi";
import { assertOptions, expecting, LIST, type OptionRules, TrustedProxies } from "tsgi/internals";
import type { JobsControl } from "./control.js";
import type { JobsRouterOptions } from "./options.js";
import { inlinePage, jobPage, listPage, PAGE_HEADERS, STATES } from "./page.js";

const OPTIONS: OptionRules<JobsRouterOptions> = { dependencies: LIST };

const PATH = expecting(
  'a path such as "/jobs"',
  (value) => typeof value === "string" && /^(?:\/[\w.~-]+)+$/.test(value),
);

const State = t.Union(STATES.map((state) => t.Literal(state)));

/** Makes the router of the page. */
export function createPageRouter(control: () => JobsControl, path: string, options: JobsRouterOptions): Router {
  PATH("router()", "path", path);
  assertOptions("router()", options, OPTIONS);
  const { dependencies = [Depends(refuseOthers())] } = options;
  const router = new Router({ includeInSchema: false, dependencies });
  const folder = path.slice(path.lastIndexOf("/") + 1);
  const id = Path();
  const html = (text: string) => new HTMLResponse(text, { headers: PAGE_HEADERS });
  router.get(path, { params: { state: Query(State, { default: null }) } }, async ({ state }) => {
    if (control().isInline) return html(inlinePage());
    return html(listPage(folder, await control().list(state ?? undefined), state));
  });
  router.get(`${path}/{id}`, { params: { id } }, async (args) => {
    const job = await control().show(args.id);
    if (job === null) throw new HTTPException(404);
    return html(jobPage(folder, job));
  });
  for (const action of ["retry", "cancel"] as const) {
    const params = { id, sameOrigin: Depends(refuseOtherSites) };
    router.post(`${path}/{id}/${action}`, { params }, async (args) => {
      if ((await control()[action](args.id)) === null) throw new HTTPException(404);
      return new Response(null, { statusCode: 303, headers: { location: `../${encodeURIComponent(args.id)}` } });
    });
  }
  return router;
}

/** Without a guard, the page is for this machine. */
function refuseOthers() {
  const local = new TrustedProxies(["loopback"], { option: "dependencies" });
  return withParams({ request: Request }, async ({ request }) => {
    const scope = { ...request.scope };
    local.apply(scope);
    if (!local.trusts(scope.client ?? null)) throw new HTTPException(404);
  });
}

/** Attack: a page of another site sends a form with the cookie of the administrator. */
const refuseOtherSites = withParams({ request: Request }, async ({ request }) => {
  const site = request.header("sec-fetch-site");
  const origin = request.header("origin");
  const isSame = origin === undefined || hostOf(origin) === request.header("host");
  if (site === undefined ? !isSame : site !== "same-origin") throw new HTTPException(403);
});

/** `null` for `Origin: null` of a sandboxed page. */
function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}
