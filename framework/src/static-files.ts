/** A folder served as it is. @module */
import type { ASGIApp, HTTPScope, Receive, Scope, Send } from "./asgi.js";
import { CallableInstance } from "./callable.js";
import { decodeLatin1 } from "./datastructures.js";
import { httpExceptionHandler } from "./exception-handlers.js";
import { ClientDisconnect, configurationError, HTTPException } from "./exceptions.js";
import { parseList, parseMediaType, parseParameters } from "./http-grammar.js";
import { ANYTHING, assertOptions, FLAG, type OptionRules, TEXT } from "./options.js";
import { chooseCoding, Request } from "./request.js";
import {
  addVary,
  contentTypeOf,
  fileKind,
  FileResponse,
  type HeadersInit,
  RedirectResponse,
  type Response,
  ResponseHeaders,
} from "./response.js";
import { canonicalPath, decodeSegment, localPath } from "./path.js";

/** The options of `StaticFiles`. */
export interface StaticFilesOptions {
  /** Whether a folder is answered with its `index.html`, and what is not there with `404.html`, where there are such files. Defaults to `false`. */
  html?: boolean;
  /** A file of the folder for every page that is not there, as an application in the browser wants it: `"index.html"`. */
  fallback?: string;
  /** Whether names that start with a dot are served. `.well-known` is (RFC 8615). Defaults to `false`. */
  dotfiles?: boolean;
  /**
   * Whether a file is sent as its `.br` or `.gz`, where such a file stands beside it and the client takes that coding. The
   * build makes them anew with each file. Defaults to `false`.
   */
  precompressed?: boolean;
  /**
   * Headers of every file, such as `Cache-Control`. The pages that stand for another path, those of `fallback` and
   * `404.html`, are sent with `Cache-Control: no-cache` in its place: what is at that path may be another tomorrow.
   */
  headers?: HeadersInit;
}

const OPTIONS: OptionRules<StaticFilesOptions> = {
  html: FLAG,
  fallback: TEXT,
  dotfiles: FLAG,
  precompressed: FLAG,
  headers: ANYTHING,
};

/** The codings of files that stand beside another, the preferred one first, and how their names end. */
const ENDINGS = { br: ".br", gzip: ".gz" } as const;

type Coding = keyof typeof ENDINGS;

const CODINGS = Object.keys(ENDINGS) as readonly Coding[];

/** What a name must not have to be the name of one file below one folder, on any system. */
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[/\\\u0000]|^\.{1,2}$/;

/** The code with which a WebSocket is closed that no route matches. */
const NO_ROUTE = 4004;

/** How a file is sent. */
interface Sending {
  /** Defaults to 200. */
  readonly statusCode?: number;
  /** The request headers by which the file was chosen. */
  readonly vary?: readonly string[];
}

/** Whether a page is what was asked for, as a browser asks for one: `*` alone is what it asks scripts by. */
function acceptsHTML(request: Request): boolean {
  return parseList(request.header("accept") ?? "").some((range) => {
    const weight = parseParameters(range)?.get("q") ?? "1";
    return parseMediaType(range) === "text/html" && Number(weight) > 0;
  });
}

/** A folder, and what is asked for below it. */
class Folder {
  readonly #directory: string | URL;
  readonly #options: StaticFilesOptions;
  #root: string | null = null;

  constructor(directory: string | URL, options: StaticFilesOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  /**
   * @param isFolder - Whether the target ends with a slash.
   * @throws HTTPException 404, 405, and what the file itself is refused with.
   */
  async respond(scope: HTTPScope, isFolder: boolean, request: Request): Promise<Response> {
    if (scope.method !== "GET" && scope.method !== "HEAD") {
      throw new HTTPException(405, undefined, { headers: { Allow: "GET, HEAD" } });
    }
    const path = localPath(scope);
    const segments = path.split("/").slice(1).map(decodeSegment);
    if (path !== "/" && segments.some((segment) => UNSAFE.test(segment))) throw new HTTPException(404);
    if (!this.#options.dotfiles && segments.some((name) => name.startsWith(".") && name !== ".well-known")) {
      throw new HTTPException(404);
    }
    this.#root ??= await toPath(this.#directory);
    const found = await this.#find(segments.join("/"), isFolder, request);
    return found ?? this.#missing(segments.at(-1) ?? "", request);
  }

  /** The answer for a path that is there. */
  async #find(path: string, isFolder: boolean, request: Request): Promise<Response | null> {
    const kind = await fileKind(path, this.#root as string);
    if (kind === "file" && !isFolder) return this.#file(path, request);
    if (kind !== "folder" || !this.#options.html) return null;
    const index = path === "" ? "index.html" : `${path}/index.html`;
    if ((await fileKind(index, this.#root as string)) !== "file") return null;
    return isFolder ? this.#file(index, request) : redirectToFolder(request.scope);
  }

  /** The answer for a path that is not there. */
  async #missing(name: string, request: Request): Promise<Response> {
    const { fallback, html } = this.#options;
    // A script or an image that is not there is not answered with a page, unless a page is what was asked for.
    const looksAtAccept = fallback !== undefined && name.includes(".");
    const vary = looksAtAccept ? ["Accept"] : [];
    if (fallback !== undefined && (!looksAtAccept || acceptsHTML(request))) {
      return this.#file(fallback, request, { vary });
    }
    if (html && (await fileKind("404.html", this.#root as string)) === "file") {
      return this.#file("404.html", request, { statusCode: 404, vary });
    }
    throw new HTTPException(404, undefined, looksAtAccept ? { headers: { Vary: "Accept" } } : {});
  }

  /** The headers of a file. One that stands for other paths is not what a header such as `immutable` is meant for. */
  #headersOf(path: string): ResponseHeaders {
    const headers = new ResponseHeaders(this.#options.headers);
    const { fallback, html } = this.#options;
    if (path !== fallback && !(html && path === "404.html")) return headers;
    const directives = parseList(headers.get("cache-control") ?? "").map((directive) => directive.toLowerCase());
    if (!directives.includes("no-store")) headers.set("cache-control", "no-cache");
    headers.delete("expires");
    return headers;
  }

  async #file(path: string, request: Request, { statusCode = 200, vary = [] }: Sending = {}): Promise<Response> {
    const root = this.#root as string;
    const headers = this.#headersOf(path);
    if (vary.length > 0) addVary(headers, ...vary);
    const offered = this.#options.precompressed ? await this.#codingsOf(path) : [];
    if (offered.length === 0) return new FileResponse(path, { root, headers, statusCode });
    addVary(headers, "Accept-Encoding");
    const { coding } = chooseCoding(request.header("accept-encoding"), offered);
    if (coding === null) return new FileResponse(path, { root, headers, statusCode });
    if (!headers.has("content-type")) headers.set("content-type", await contentTypeOf(path));
    headers.set("content-encoding", coding);
    return new FileResponse(path + ENDINGS[coding], { root, headers, statusCode });
  }

  /** In which codings the file stands beside itself. */
  async #codingsOf(path: string): Promise<Coding[]> {
    const kinds = await Promise.all(CODINGS.map((coding) => fileKind(path + ENDINGS[coding], this.#root as string)));
    return CODINGS.filter((_, index) => kinds[index] === "file");
  }
}

async function toPath(directory: string | URL): Promise<string> {
  const { fileURLToPath } = await import("node:url");
  const path = typeof directory === "string" ? directory : fileURLToPath(directory);
  if ((await fileKind(".", path).catch(() => null)) === "folder") return path;
  const paths = await import("node:path");
  throw configurationError("TSGI_INVALID_STATIC_FOLDER.missing", path, paths.resolve(path));
}

/** Whether the target as it came ends with a slash; the path in its canonical form does not say. */
function asksForFolder({ path, raw_path: rawPath }: HTTPScope): boolean {
  return rawPath === undefined ? path.endsWith("/") : rawPath.length === 0 || rawPath.at(-1) === 0x2f;
}

/**
 * Sends to the folder's own address, in which relative links of its page point into it. Written anew from the canonical
 * path: a target such as `//host` must not lead to another host.
 */
function redirectToFolder({ path, query_string: query }: HTTPScope): Response {
  const target = path
    .split("/")
    .map((segment) => encodeURIComponent(decodeSegment(segment)))
    .join("/");
  const search = query && query.length > 0 ? `?${decodeLatin1(query)}` : "";
  return new RedirectResponse(`${target}/${search}`);
}

/** A `StaticFiles` is an ASGI application: call it with a scope, `receive` and `send`. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the constructor gives a function, which is callable
export interface StaticFiles {
  (scope: Scope, receive: Receive, send: Send): Promise<void>;
}

/**
 * An application that serves the files of a folder to GET and HEAD, with everything that a `FileResponse` does. Nothing
 * outside the folder is served: not by `..` in any spelling, not by a link that leads out of it.
 *
 * @example
 * ```ts
 * import { App, StaticFiles } from "tsgi";
 *
 * const app = new App();
 * app.mount("/assets", new StaticFiles("assets", { headers: { "cache-control": "public, max-age=3600" } }));
 * app.mount("/", new StaticFiles("dist", { html: true, fallback: "index.html" }));
 * ```
 */
export class StaticFiles extends CallableInstance {
  /**
   * @param directory - A path, which starts at the working directory, or a `file:` URL.
   * @throws ConfigurationError when it is none of these, and for an option that there is not. That it is a folder is
   * looked up with the first request.
   */
  constructor(directory: string | URL, options: StaticFilesOptions = {}) {
    if (typeof directory !== "string" && !(directory instanceof URL)) {
      throw configurationError("TSGI_INVALID_STATIC_FOLDER.type", directory);
    }
    assertOptions("new StaticFiles()", options, OPTIONS);
    const folder = new Folder(directory, options);
    const self: ASGIApp = (scope, receive, send) => {
      if (scope.type === "http") return serve(folder, scope, receive, send);
      if (scope.type === "websocket") {
        return Promise.resolve(send({ type: "websocket.close", code: NO_ROUTE, reason: "No route" }));
      }
      return Promise.resolve();
    };
    super(self);
  }
}

/** Below an App the path is canonical, and the App answers errors; without one both are done here. */
async function serve(folder: Folder, scope: HTTPScope, receive: Receive, send: Send): Promise<void> {
  const isMounted = scope.app !== undefined;
  const headOnly = scope.method === "HEAD";
  try {
    const path = isMounted ? scope.path : canonicalPath(scope.path, scope.raw_path);
    if (path === null) throw new HTTPException(400, "The path is not valid percent-encoded UTF-8");
    const inner = { ...scope, path };
    const request = new Request(inner, receive);
    const response = await folder.respond(inner, asksForFolder(scope), request);
    await response.send(send, headOnly, request);
  } catch (error) {
    if (error instanceof ClientDisconnect) return;
    if (isMounted || !(error instanceof HTTPException)) throw error;
    await httpExceptionHandler(error).send(send, headOnly);
  }
}
