import type TestAgent from "supertest/lib/agent.js";
import type { HeaderPair } from "../asgi.js";

/** The cookies of a client, for one address. */
export class CookieJar {
  readonly #jar: TestAgent["jar"];
  readonly #url: URL;

  /** @param jar - That of the client's HTTP requests. */
  constructor(jar: TestAgent["jar"], url: URL) {
    this.#jar = jar;
    this.#url = url;
  }

  /** The header line of the request, or none. */
  get header(): [name: "cookie", value: string][] {
    const { hostname: domain, pathname: path } = this.#url;
    const value = this.#jar.getCookies({ domain, path, secure: false, script: false }).toValueString();
    return value === "" ? [] : [["cookie", value]];
  }

  /** Keeps what an answer says in `Set-Cookie`. */
  save(headers: Iterable<HeaderPair>): void {
    const decoder = new TextDecoder("latin1");
    const { hostname, pathname } = this.#url;
    // RFC 6265 §5.1.4: the default path goes up to the last slash, which it leaves out.
    const path = pathname.slice(0, pathname.lastIndexOf("/")) || "/";
    for (const [name, value] of headers) {
      if (decoder.decode(name).toLowerCase() === "set-cookie")
        this.#jar.setCookie(decoder.decode(value), hostname, path);
    }
  }
}
