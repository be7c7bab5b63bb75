/** Supertest, loaded on use, and the cookies that it shares with WebSockets of the same client. @module */
import type supertest from "supertest";
import type TestAgent from "supertest/lib/agent.js";
import type { HeaderPair } from "../../protocol/asgi.js";
import { headerValues } from "../../protocol/header-list.js";

/** The cookies of a client's HTTP requests. */
type Jar = TestAgent["jar"];

/** The `Cookie` header of a request to an address, or undefined. */
export function cookieHeader(jar: Jar, { hostname: domain, pathname: path }: URL): [name: "cookie", value: string][] {
  const value = jar.getCookies({ domain, path, secure: false, script: false }).toValueString();
  return value === "" ? [] : [["cookie", value]];
}

/** Keeps the `Set-Cookie` of a response. */
export function saveCookies(jar: Jar, { hostname, pathname }: URL, headers: Iterable<HeaderPair>): void {
  // RFC 6265 §5.1.4: the default path goes up to the last slash, which it leaves out.
  const path = pathname.slice(0, pathname.lastIndexOf("/")) || "/";
  for (const cookie of headerValues(headers, "set-cookie")) jar.setCookie(cookie, hostname, path);
}

/** Tells if an import failed because the package itself is missing, and not because of its imports or its code. */
function isMissing(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return /^(?:ERR_)?MODULE_NOT_FOUND$/.test(String(code)) && /'supertest'/.test(String(message));
}

/**
 * Loads supertest on use: an application that is not under test does without it.
 *
 * @throws Error with the package to install, if it is missing.
 */
export async function loadSupertest(): Promise<typeof supertest> {
  try {
    return (await import("supertest")).default;
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new Error(
      "TestClient needs supertest, which is not installed. Run: npm install --save-dev supertest @types/supertest",
      { cause: error },
    );
  }
}
