/** Checked by the compiler, never run: `app.fetch` fits the types of the platforms, as they declare them. */
import { App } from "tsgi";
import { type FetchHandler, toFetchHandler } from "tsgi/web";

const app = new App();
const request = new globalThis.Request("http://localhost/");

/** `Deno.ServeHandler` of Deno 2.9. */
type DenoHandler = (
  request: globalThis.Request,
  info: { remoteAddr: { transport: "tcp"; hostname: string; port: number }; completed: Promise<void> },
) => globalThis.Response | Promise<globalThis.Response>;

/** The option `fetch` of `Bun.serve` in `@types/bun` 1.4. */
interface BunServer {
  readonly port: number;
  requestIP(of: globalThis.Request): { address: string; family: string; port: number } | null;
  upgrade(of: globalThis.Request): boolean;
}
type BunHandler = (
  this: BunServer,
  request: globalThis.Request,
  server: BunServer,
) => globalThis.Response | Promise<globalThis.Response>;

/** `ExportedHandlerFetchHandler` of `@cloudflare/workers-types` 5, with bindings. */
type WorkersHandler = (
  request: globalThis.Request,
  env: { readonly REGION: string },
  context: { waitUntil(promise: Promise<unknown>): void; passThroughOnException(): void; props: unknown },
) => globalThis.Response | Promise<globalThis.Response>;

/** `AppRouteHandlerConfig` of Next.js 16: the second argument of a route handler. */
class NextRequest extends globalThis.Request {
  readonly cookies = new Map<string, string>();
}
type NextHandler = (
  request: NextRequest,
  context: { params: Promise<{ path: string[] }> },
) => Promise<globalThis.Response | void> | globalThis.Response | void;

/** `RequestHandler` of SvelteKit 3, `APIRoute` of Astro 7, and `LoaderFunction` of React Router 8. */
interface Event<Params> {
  readonly request: globalThis.Request;
  readonly params: Params;
  readonly locals: object;
}
type SvelteKitHandler = (
  event: Event<Partial<Record<string, string>>>,
) => globalThis.Response | Promise<globalThis.Response>;
type ReactRouterLoader = (args: Event<{ readonly "*": string }>) => Promise<unknown>;

app.fetch satisfies NextHandler;
app.fetch satisfies SvelteKitHandler;
app.fetch satisfies ReactRouterLoader;
app.fetch satisfies DenoHandler;
app.fetch satisfies BunHandler;
app.fetch satisfies WorkersHandler;
app.fetch satisfies FetchHandler;
app.fetch satisfies (request: globalThis.Request) => Promise<globalThis.Response>;
toFetchHandler(app) satisfies DenoHandler;

void app.fetch(request, { client: ["192.0.2.1", 1], env: {}, waitUntil: () => {} });
// @ts-expect-error a key of the context that is written wrong
void app.fetch(request, { clients: null });
