/** A browser: it keeps cookies and follows redirects, between an application and a provider. @module */
import { once } from "node:events";
import { type IncomingMessage, request as sendRequest } from "node:http";
import { text as readText } from "node:stream/consumers";

/** A page that the browser has opened. */
export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** An application in memory. */
interface InMemory {
  readonly fetch: (request: Request) => Promise<Response>;
}

const NAVIGATION = { "sec-fetch-mode": "navigate", accept: "text/html" };

/** Sends a request over a socket. `fetch` of Node.js is a program: it always adds `Sec-Fetch-Mode: cors`. */
async function overSocket(request: Request): Promise<Response> {
  const headers = Object.fromEntries(request.headers);
  const sent = sendRequest(request.url, { method: request.method, headers });
  sent.end(await request.text());
  const [received] = (await once(sent, "response")) as [IncomingMessage];
  const lines = Array.from({ length: received.rawHeaders.length / 2 }, (_, index) =>
    received.rawHeaders.slice(index * 2, index * 2 + 2),
  );
  const body = await readText(received);
  return new Response(body === "" ? null : body, {
    status: received.statusCode ?? 0,
    headers: lines as [string, string][],
  });
}

/** A browser whose requests to the application's origin stay in memory; those to other origins are sent. */
export class Browser {
  /** The cookies of all hosts. */
  readonly cookies = new Map<string, string>();
  readonly #app: InMemory | null;
  readonly #origin: string;

  constructor(origin: string, app: InMemory | null = null) {
    this.#origin = origin;
    this.#app = app;
  }

  /** Another browser with a copy of the cookies. */
  copy(): Browser {
    const copy = new Browser(this.#origin, this.#app);
    for (const [name, value] of this.cookies) copy.cookies.set(name, value);
    return copy;
  }

  /** Sends one request, as a program does unless headers tell otherwise. */
  async send(target: string | URL, init: RequestInit = {}): Promise<Page> {
    const url = new URL(target, this.#origin);
    const headers = new Headers(init.headers);
    const cookie = Array.from(this.cookies, (pair) => pair.join("=")).join("; ");
    if (cookie !== "") headers.set("cookie", cookie);
    const request = new Request(url, { ...init, headers, redirect: "manual" });
    const isLocal = this.#app !== null && url.origin === new URL(this.#origin).origin;
    const response = await (isLocal && this.#app ? this.#app.fetch(request) : overSocket(request));
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return { url, status: response.status, headers: response.headers, text: await response.text() };
  }

  #keep(line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (/max-age=0\b/i.test(line) || value === "") this.cookies.delete(name);
    else this.cookies.set(name, value);
  }

  /** Opens a page without following its redirect. */
  open(target: string | URL, init: RequestInit = {}): Promise<Page> {
    return this.send(target, { ...init, headers: { ...NAVIGATION, ...(init.headers as Record<string, string>) } });
  }

  /** Follows redirects, until one leads to a URL that `isEnd` accepts, or a page is there. */
  async follow(first: Page, isEnd: (url: URL) => boolean = () => false): Promise<Page> {
    let page = first;
    for (let count = 0; count < 20; count++) {
      const location = page.headers.get("location");
      if (location === null) return page;
      const url = new URL(location, page.url);
      if (isEnd(url)) return { ...page, url };
      page = await this.open(url);
    }
    throw new Error(`Too many redirects: ${page.url.href}`);
  }

  /** The form of a page, sent with these fields. */
  submit(page: Page, fields: Record<string, string>): Promise<Page> {
    const [, action = ""] = /<form[^>]* action="([^"]+)"/.exec(page.text) ?? [];
    const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const body = new URLSearchParams({
      ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])),
      ...fields,
    });
    return this.open(new URL(action, page.url), { method: "POST", body });
  }

  /** Opens the login, and returns the URL of the provider to which it leads. */
  async begin(target = "/login"): Promise<URL> {
    const page = await this.open(target);
    return new URL(page.headers.get("location") ?? "about:blank");
  }
}
