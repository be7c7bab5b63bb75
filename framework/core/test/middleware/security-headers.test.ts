import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, HTTPScope } from "../../src/protocol/asgi.js";
import { App, ConfigurationError, HTMLResponse } from "../../src/index.js";
import { securityHeaders, type SecurityHeadersOptions } from "../../src/middleware/index.js";
import { call as callInMemory } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const create = (options?: SecurityHeadersOptions) => {
  const app = new App({ logger: new KeptLog(), middleware: [securityHeaders(options)] });
  app.get("/", async () => null);
  app.get("/own", async () => {
    const headers = { "x-frame-options": "SAMEORIGIN", "content-security-policy": "default-src *" };
    return new HTMLResponse("", { headers: { ...headers, "referrer-policy": "no-referrer" } });
  });
  return app;
};

const STRICT = {
  "content-security-policy": "frame-ancestors 'none'",
  "referrer-policy": "strict-origin-when-cross-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

describeMatrix("securityHeaders", ({ call }) => {
  it("are in every response, including errors, without HSTS over http", async () => {
    for (const path of ["/", "/none"]) {
      const { headers } = await call(create(), "GET", path);
      const { "content-type": _type, "content-length": _length, ...others } = headers;
      expect(others).toEqual(STRICT);
    }
  });

  it("do not override headers of the application", async () => {
    const { headerLines } = await call(create(), "GET", "/own");
    const lines = headerLines.filter(([name]) => name in STRICT);
    expect(lines.toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual([
      ["content-security-policy", "default-src *"],
      ["referrer-policy", "no-referrer"],
      ["x-content-type-options", "nosniff"],
      ["x-frame-options", "SAMEORIGIN"],
    ]);
  });

  it.each(["/docs", "/redoc"])("leave %s its own policy, which lets its scripts run", async (path) => {
    const app = create({ contentSecurityPolicy: "default-src 'none'" });
    const { status, headers } = await call(app, "GET", path);
    expect(status).toBe(200);
    expect(headers["content-security-policy"]).toContain("script-src 'self'");
  });

  it("use the values of the options", async () => {
    const { headers } = await call(
      create({
        frameOptions: "SAMEORIGIN",
        referrerPolicy: false,
        crossOriginOpenerPolicy: "same-origin",
        permissionsPolicy: "camera=()",
      }),
      "GET",
      "/",
    );
    expect(headers).toMatchObject({
      "content-security-policy": "frame-ancestors 'self'",
      "cross-origin-opener-policy": "same-origin",
      "permissions-policy": "camera=()",
      "x-frame-options": "SAMEORIGIN",
    });
    expect(headers).not.toHaveProperty("referrer-policy");
    const framed = await call(create({ frameOptions: false }), "GET", "/");
    expect(framed.headers).not.toHaveProperty("x-frame-options");
    expect(framed.headers).not.toHaveProperty("content-security-policy");
  });
});

describe("Strict-Transport-Security", () => {
  const overHTTPS =
    (app: ASGIApp): ASGIApp =>
    (scope, receive, send) =>
      app({ ...scope, scheme: "https" } as HTTPScope, receive, send);

  it.each<[SecurityHeadersOptions, string | undefined]>([
    [{}, "max-age=31536000"],
    [{ strictTransportSecurity: { maxAge: 60 } }, "max-age=60"],
    [{ strictTransportSecurity: { maxAge: 0 } }, "max-age=0"],
    [{ strictTransportSecurity: { includeSubDomains: true } }, "max-age=31536000; includeSubDomains"],
    [
      { strictTransportSecurity: { includeSubDomains: true, preload: true } },
      "max-age=31536000; includeSubDomains; preload",
    ],
    [{ strictTransportSecurity: false }, undefined],
  ])("of %j over https is %s", async (options, value) => {
    const { headers } = await callInMemory(overHTTPS(create(options)), "GET", "/");
    expect(headers["strict-transport-security"]).toBe(value);
  });

  it.each<[unknown, RegExp]>([
    [{ strictTransportSecurity: { preload: true } }, /preload needs includeSubDomains/],
    [{ strictTransportSecurity: { preload: true, includeSubDomains: true, maxAge: 60 } }, /a year or more/],
    [{ strictTransportSecurity: { maxAge: -1 } }, /maxAge should be a whole number/],
    [{ strictTransportSecurity: { seconds: 1 } }, /no option "seconds"/],
    [{ frameOptions: "ALLOW" }, /frameOptions should be "DENY"/],
    [{ contentSecurityPolicy: "default-src 'self'\r\nset-cookie: a=b" }, /does not allow/],
    [{ csp: "default-src 'self'" }, /no option "csp"/],
  ])("and the others are rejected when they are created with %j", (options, message) => {
    const make = () => securityHeaders(options as SecurityHeadersOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });
});
