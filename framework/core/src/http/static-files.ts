/** A folder served as it is. @module */
import type { HTTPScope, Receive, Scope, Send } from "../protocol/asgi.js";
import { CallableInstance, onlyHTTP } from "../protocol/callable.js";
import { toPath } from "./save-file.js";
import { httpExceptionHandler } from "./exception-handlers.js";
import { ClientDisconnect, configurationError, HTTPException } from "../common/exceptions.js";
import { parseList, parseMediaType, parseParameters } from "../protocol/http-grammar.js";
import { ANYTHING, assertOptions, FLAG, type OptionRules, TEXT } from "../common/options.js";
import { nodeModule } from "../common/platform.js";
import { chooseCoding } from "./request/accept-encoding.js";
import { Request } from "./request.js";
import { addVary, type HeadersInit, ResponseHeaders } from "./response/headers.js";
import { FileResponse } from "./response/file.js";
import { fileKind } from "./response/open-file.js";
import { RedirectResponse } from "./response/kinds.js";
import type { Response } from "./response/response.js";
import { isFileName } from "./file-name.js";
import { canonicalPath, localPath, sentQuery } from "../protocol/scope.js";
import { decodeSegment } from "../protocol/path.js";

/** The options of `StaticFiles`. */
export interface StaticFilesOptions {
  /**
   * Responds to a folder with its `index.html`, and to a missing file with `404.html`, if they exist. Defaults to
   * `false`.
   */
  html?: boolean;
  /** A file of the folder for every page that is not there, as an application in the browser wants it: `"index.html"`. */
  fallback?: string;
  /** Serves names that start with a dot. `.well-known` always is (RFC 8615). Defaults to `false`. */
  dotfiles?: boolean;
  /**
   * Sends the `.br` or `.gz` version of a file, if it exists next to it and the client accepts that coding. The build
   * must create them again with each file. Defaults to `false`.
   */
  precompressed?: boolean;
  /**
   * Headers of every file, such as `Cache-Control`. Pages that are sent for another path, those of `fallback` and
   * `404.html`, get `Cache-Control: no-cache` instead: the path may exist later.
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

/** The codings of compressed versions, the preferred one first, and their file extensions. */
const ENDINGS = { br: ".br", gzip: ".gz" } as const;

type Coding = keyof typeof ENDINGS;

const CODINGS = Object.keys(ENDINGS) as readonly Coding[];

/** Tells if the client requests a page, as browsers do: for scripts they send only `*`. */
function acceptsHTML(request: Request): boolean {
  return parseList(request.header("accept") ?? "").some((range) => {
    const weight = parseParameters(range)?.get("q") ?? "1";
    return parseMediaType(range) === "text/html" && Number(weight) > 0;
  });
}

/** The status of a file that is sent in the place of another, and the header on which that depends. */
interface FileOptions {
  readonly statusCode?: number;
  readonly vary?: { readonly Vary: string } | undefined;
}

/** A folder whose files are served. */
class Folder {
  readonly #root: string;
  readonly #options: StaticFilesOptions;

  constructor(root: string, options: StaticFilesOptions) {
    this.#root = root;
    this.#options = options;
  }

  /**
   * @param isFolder - Whether the target ends with a slash.
   * @throws HTTPException 404, 405, and the status of the file itself.
   */
  async respond(scope: HTTPScope, isFolder: boolean, request: Request): Promise<Response> {
    if (scope.method !== "GET" && scope.method !== "HEAD") {
      throw new HTTPException(405, undefined, { headers: { Allow: "GET, HEAD" } });
    }
    const path = localPath(scope);
    const segments = path.split("/").slice(1).map(decodeSegment);
    const isHidden = (name: string) => !this.#options.dotfiles && name.startsWith(".") && name !== ".well-known";
    if (path !== "/" && segments.some((name) => !isFileName(name) || isHidden(name))) throw new HTTPException(404);
    const found = await this.#find(segments.join("/"), isFolder, request);
    return found ?? this.#missing(segments.at(-1) ?? "", request);
  }

  /** The response for a path that exists. */
  async #find(path: string, isFolder: boolean, request: Request): Promise<Response | null> {
    const kind = await fileKind(path, this.#root);
    if (kind === "file" && !isFolder) return this.#file(path, request);
    if (kind !== "folder" || !this.#options.html) return null;
    const index = path === "" ? "index.html" : `${path}/index.html`;
    if ((await fileKind(index, this.#root)) !== "file") return null;
    return isFolder ? this.#file(index, request) : redirectToFolder(request.scope);
  }

  /** The response for a path that does not exist. */
  async #missing(name: string, request: Request): Promise<Response> {
    const { fallback, html } = this.#options;
    // A missing script or image does not result in a page, unless the client requests a page.
    const dependsOnAccept = fallback !== undefined && name.includes(".");
    const vary = dependsOnAccept ? { Vary: "Accept" } : undefined;
    if (fallback !== undefined && (!dependsOnAccept || acceptsHTML(request))) {
      return this.#file(fallback, request, { vary });
    }
    if (html && (await fileKind("404.html", this.#root)) === "file") {
      return this.#file("404.html", request, { statusCode: 404, vary });
    }
    throw new HTTPException(404, undefined, vary && { headers: vary });
  }

  /** The headers of a file. One that stands for other paths gets no header such as `immutable`. */
  #headersOf(path: string): ResponseHeaders {
    const headers = new ResponseHeaders(this.#options.headers);
    const { fallback, html } = this.#options;
    if (path !== fallback && !(html && path === "404.html")) return headers;
    const directives = parseList(headers.get("cache-control") ?? "").map((directive) => directive.toLowerCase());
    if (!directives.includes("no-store")) headers.set("cache-control", "no-cache");
    headers.delete("expires");
    return headers;
  }

  async #file(path: string, request: Request, { statusCode = 200, vary }: FileOptions = {}): Promise<Response> {
    const headers = this.#headersOf(path);
    if (vary) addVary(headers, vary.Vary);
    const offered = this.#options.precompressed ? await this.#codingsOf(path) : [];
    if (offered.length > 0) addVary(headers, "Accept-Encoding");
    const { coding } = chooseCoding(request.header("accept-encoding"), offered);
    if (coding === null) return new FileResponse(path, { root: this.#root, headers, statusCode });
    headers.set("content-encoding", coding);
    return new FileResponse(path + ENDINGS[coding], { root: this.#root, headers, statusCode });
  }

  /** The codings for which a compressed version of the file exists. */
  async #codingsOf(path: string): Promise<Coding[]> {
    const kinds = await Promise.all(CODINGS.map((coding) => fileKind(path + ENDINGS[coding], this.#root)));
    return CODINGS.filter((_, index) => kinds[index] === "file");
  }
}

/** @throws ConfigurationError when the folder does not exist. */
async function toFolder(directory: string | URL): Promise<string> {
  const path = toPath(directory);
  if ((await fileKind(".", path).catch(() => null)) === "folder") return path;
  const paths = nodeModule("node:path", "StaticFiles");
  throw configurationError("TSGI_INVALID_STATIC_FOLDER.missing", path, paths.resolve(path));
}

/** Tells if the target as received ends with a slash, which the canonical path does not show. */
function asksForFolder({ path, raw_path: rawPath }: HTTPScope): boolean {
  return rawPath === undefined ? path.endsWith("/") : rawPath.length === 0 || rawPath.at(-1) === 0x2f;
}

/**
 * Sends to the folder's own address, in which relative links of its page point into it. Built from the canonical path:
 * a target such as `//host` must not redirect to another host.
 */
function redirectToFolder(scope: HTTPScope): Response {
  const segments = scope.path.split("/").map((segment) => encodeURIComponent(decodeSegment(segment)));
  return new RedirectResponse(`${segments.join("/")}/${sentQuery(scope)}`);
}

/** A `StaticFiles` is an ASGI application: call it with a scope, `receive` and `send`. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the constructor gives a function, which is callable
export interface StaticFiles {
  (scope: Scope, receive: Receive, send: Send): Promise<void>;
}

/**
 * An application that serves the files of a folder to GET and HEAD, with everything that a `FileResponse` does. Files
 * outside the folder are not served: not with `..` in any spelling, and not through a link.
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
   * @throws ConfigurationError when it is neither, for an unknown option, and on a platform without files. A missing folder fails the first request.
   */
  constructor(directory: string | URL, options: StaticFilesOptions = {}) {
    if (typeof directory !== "string" && !(directory instanceof URL)) {
      throw configurationError("TSGI_INVALID_STATIC_FOLDER.type", directory);
    }
    assertOptions("new StaticFiles()", options, OPTIONS);
    nodeModule("node:fs/promises", "StaticFiles");
    let folder: Folder | null = null;
    const open = async () => (folder ??= new Folder(await toFolder(directory), options));
    super(onlyHTTP(serveFrom(open)));
  }
}

/** Below an App, the path is canonical and the App handles errors; without one, both happen here. */
function serveFrom(open: () => Promise<Folder>): (scope: HTTPScope, receive: Receive, send: Send) => Promise<void> {
  return async (scope, receive, send) => {
    const isMounted = scope.app !== undefined;
    const headOnly = scope.method === "HEAD";
    try {
      const path = isMounted ? scope.path : canonicalPath(scope.path, scope.raw_path);
      if (path === null) throw new HTTPException(400, "The path is not valid percent-encoded UTF-8");
      const inner = { ...scope, path };
      const request = new Request(inner, receive);
      const folder = await open();
      const response = await folder.respond(inner, asksForFolder(scope), request);
      await response.send(send, headOnly, request);
    } catch (error) {
      if (error instanceof ClientDisconnect) return;
      if (isMounted || !(error instanceof HTTPException)) throw error;
      await httpExceptionHandler(error, { scope }).send(send, headOnly);
    }
  };
}
