import { mkdirSync, symlinkSync, utimesSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, Scope, SendMessage } from "../../src/protocol/asgi.js";
import { App, ConfigurationError, Router, StaticFiles, type StaticFilesOptions } from "../../src/index.js";
import { served, Wire } from "../platforms/node/_http.js";
import { createFolder } from "../../../test/support/folder.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const folder = createFolder({
  "public/index.html": "<p>home</p>",
  "public/404.html": "<p>not here</p>",
  "public/app.js": "start();",
  "public/main.js": "main();",
  "public/main.js.br": "brotli of main.js",
  "public/main.js.gz": "gzip - of main.js",
  "public/alone.js.br": "brotli alone",
  "public/404.html.gz": "gzip of 404",
  "public/docs/index.html.br": "brotli of docs",
  "public/a b%2f+ü.txt": "odd name",
  "public/docs/index.html": "<p>docs</p>",
  "public/docs/guide/index.html": "<p>guide</p>",
  "public/plain/file.txt": "plain",
  "public/.env": "SECRET=1",
  "public/.git/config": "secret",
  "public/.well-known/security.txt": "Contact: us",
  "public/..data": "dots",
  "secret.txt": "secret",
  "public-beside/secret.txt": "secret",
});
const root = path.join(folder, "public");
symlinkSync(path.join(folder, "secret.txt"), path.join(root, "leak.txt"));
symlinkSync(folder, path.join(root, "up"));
symlinkSync(path.join(folder, "secret.txt"), path.join(root, "app.js.br"));
symlinkSync(path.join(root, "app.js"), path.join(root, "inside.js"));
mkdirSync(path.join(root, "empty"));
// A build may give all files one time, and two of them may have one size.
for (const name of ["app.js", "main.js", "main.js.br", "main.js.gz"]) {
  utimesSync(path.join(root, name), 1_700_000_000, 1_700_000_000);
}

const mounted = (options?: StaticFilesOptions, prefix = "/static") => {
  const log = new KeptLog();
  const app = new App({ logger: log });
  app.mount(prefix, new StaticFiles(root, options));
  return Object.assign(app, { log });
};

describeMatrix("StaticFiles", ({ call, keeps, transport }) => {
  it("serve the files of a folder to GET and HEAD", async () => {
    const answer = await call(mounted(), "GET", "/static/app.js");
    expect(answer).toMatchObject({
      status: 200,
      text: "start();",
      headers: { "content-type": "text/javascript; charset=utf-8", "content-length": "8", "accept-ranges": "bytes" },
    });
    const head = await call(mounted(), "HEAD", "/static/app.js");
    expect(head).toMatchObject({ status: 200, text: "", headers: answer.headers });
  });

  it("behave like a FileResponse: 304, ranges, and custom headers", async () => {
    const app = mounted({ headers: { "cache-control": "public, max-age=60" } });
    const { etag = "", ...headers } = (await call(app, "GET", "/static/app.js")).headers;
    expect(headers).toMatchObject({ "cache-control": "public, max-age=60", "last-modified": expect.any(String) });
    const again = await call(app, "GET", "/static/app.js", { headers: [["if-none-match", etag]] });
    expect(again).toMatchObject({ status: 304, text: "", headers: { etag, "cache-control": "public, max-age=60" } });
    const part = await call(app, "GET", "/static/app.js", { headers: [["range", "bytes=0-4"]] });
    expect(part).toMatchObject({ status: 206, text: "start" });
  });

  it.each(["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])("respond to %s with 405 and Allow", async (method) => {
    const answer = await call(mounted(), method, "/static/app.js");
    expect(answer).toMatchObject({
      status: 405,
      json: { detail: "Method Not Allowed" },
      headers: { allow: "GET, HEAD" },
    });
  });

  it("find names with any characters, decoded once", async () => {
    expect((await call(mounted(), "GET", "/static/a%20b%252f+%C3%BC.txt")).text).toBe("odd name");
    expect((await call(mounted(), "GET", "/static/..data", {})).status).toBe(404);
    expect((await call(mounted({ dotfiles: true }), "GET", "/static/..data")).text).toBe("dots");
  });

  it.each([
    "/static/../secret.txt",
    "/static/%2e%2e/secret.txt",
    "/static/%2e%2e%2fsecret.txt",
    "/static/..%2fsecret.txt",
    "/static/..%2Fsecret.txt",
    "/static/docs/..%2f..%2fsecret.txt",
    "/static/docs/%2e%2e/%2e%2e/secret.txt",
    "/static/..%5csecret.txt",
    "/static/..%5Csecret.txt",
    "/static/%2e%2e%5csecret.txt",
    "/static/%252e%252e%252fsecret.txt",
    "/static/%2e%2e%252fsecret.txt",
    "/static/..%c0%afsecret.txt",
    "/static/../public-beside/secret.txt",
    "/static/%2fetc%2fpasswd",
    "/static//etc/passwd",
    "/static/app.js%00.png",
    "/static/app.js%00",
    "/static/%00",
    "/static/leak.txt",
    "/static/up/secret.txt",
    "/static/.env",
    "/static/%2eenv",
    "/static/.git/config",
    "/static/docs/../.env",
    ...(keeps.dotSegments ? ["/static/./app.js"] : []),
    "/static/app.js/",
    "/static/app.js/more",
    "/static/docs%2findex.html",
    "/static/docs%5cindex.html",
    "/static/plain",
    "/static/plain/",
    "/static/docs",
    "/static/none.txt",
    "/static/",
    "/static",
    `/static/${"a".repeat(400)}`,
  ])("never give anything for %s", async (target) => {
    const app = mounted();
    const answer = await call(app, "GET", target);
    expect([400, 404]).toContain(answer.status);
    expect(answer.text).not.toMatch(/secret|root:/i);
    expect(app.log.lines).toEqual([]);
    if (answer.status === 404) expect(answer.json).toEqual({ detail: "Not Found" });
  });

  it("follow a link that stays in the folder, and serve .well-known", async () => {
    expect((await call(mounted(), "GET", "/static/inside.js")).text).toBe("start();");
    expect((await call(mounted(), "GET", "/static/.well-known/security.txt")).text).toBe("Contact: us");
  });

  it("with `dotfiles` serve names that start with a dot", async () => {
    expect((await call(mounted({ dotfiles: true }), "GET", "/static/.env")).text).toBe("SECRET=1");
    const resolved = keeps.dotSegments ? ["docs/../app.js", "./app.js", "docs/%2e%2e/app.js"] : [];
    for (const target of ["%2e%2e/secret.txt", ...resolved]) {
      expect((await call(mounted({ dotfiles: true }), "GET", `/static/${target}`)).status).toBe(404);
    }
  });

  it.each([
    ["/static/", "<p>home</p>"],
    ["/static/docs/", "<p>docs</p>"],
    ["/static/docs/guide/", "<p>guide</p>"],
    ["/static/docs/index.html", "<p>docs</p>"],
  ])("with `html` respond to %s with its page", async (target, text) => {
    const answer = await call(mounted({ html: true }), "GET", target);
    expect(answer).toMatchObject({ status: 200, text, headers: { "content-type": "text/html; charset=utf-8" } });
  });

  it.each([
    ["/static", "/static/"],
    ["/static/docs", "/static/docs/"],
    ["/static/docs?a=1&b=%20", "/static/docs/?a=1&b=%20"],
    ["/static//docs//guide", "/static/docs/guide/"],
    ["//static/docs", "/static/docs/"],
  ])("with `html` redirect %s to %s", async (target, location) => {
    const answer = await call(mounted({ html: true }), "GET", target);
    expect(answer).toMatchObject({ status: 307, headers: { location } });
  });

  it("with `html` respond with 404.html if a file, or the page of a folder, does not exist", async () => {
    const app = mounted({ html: true });
    for (const target of ["/static/none", "/static/none.js", "/static/empty/", "/static/plain", "/static/app.js/"]) {
      expect(await call(app, "GET", target)).toMatchObject({ status: 404, text: "<p>not here</p>" });
    }
    expect(await call(app, "GET", "/static/%2e%2e%2fsecret.txt")).toMatchObject({
      status: 404,
      text: expect.stringContaining("detail"),
    });
  });

  it("with `fallback` respond with that file for every missing page", async () => {
    const app = mounted({ fallback: "index.html" });
    for (const target of ["/static/users/5", "/static/none", "/static/"]) {
      expect(await call(app, "GET", target)).toMatchObject({ status: 200, text: "<p>home</p>" });
    }
    expect((await call(app, "HEAD", "/static/users/5")).headers["content-length"]).toBe("11");
    expect((await call(app, "GET", "/static/app.js")).text).toBe("start();");
    expect((await call(app, "GET", "/static/gone.js")).status).toBe(404);
    const page = await call(app, "GET", "/static/jane.doe", { headers: [["accept", "text/html,*/*;q=0.8"]] });
    expect(page.text).toBe("<p>home</p>");
    expect((await call(app, "POST", "/static/users")).status).toBe(405);
    expect((await call(app, "GET", "/static/.env")).status).toBe(404);
  });

  describe("with `fallback` and `headers`", () => {
    const immutable = { "cache-control": "public, max-age=31536000, immutable", expires: "0", "x-own": "yes" };
    const ask = (target: string, accept: string | undefined, options: StaticFilesOptions = {}) =>
      call(mounted({ fallback: "index.html", headers: immutable, ...options }), "GET", target, {
        headers: accept === undefined ? [] : [["accept", accept]],
      });

    it.each<[string, string | undefined, number]>([
      ["text/html", "text/html,application/xhtml+xml,*/*;q=0.8", 200],
      ["text/html in other letters and with blanks", "image/png , TEXT/HTML ;q=0.5", 200],
      ["anything, as scripts are asked for", "*/*", 404],
      ["no text/html", "text/html;q=0, */*", 404],
      ["what only looks like it", "x-text/html", 404],
      ["another white space", "\u00a0text/html", 404],
      ["nothing", undefined, 404],
    ])("report that a page with a dot depends on Accept, requested with %s", async (_what, accept, status) => {
      const answer = await ask("/static/jane.doe", accept);
      expect(answer).toMatchObject({ status, headers: { vary: "Accept" } });
      const lost = await ask("/static/jane.doe", accept, { html: true });
      expect(lost).toMatchObject({ status: status === 404 ? 404 : 200, headers: { vary: "Accept" } });
    });

    it("combine the headers with those that depend on the file", async () => {
      const answer = await ask("/static/jane.doe", "text/html", { precompressed: true, headers: { vary: "Cookie" } });
      expect(answer.headers["vary"]).toMatch(/^Cookie, Accept(?:, Accept-Encoding)?$/);
    });

    it.each(["/static/users/5", "/static/index.html"])("send %s, the fallback, with revalidation", async (target) => {
      const { headers } = await ask(target, "text/html");
      expect(headers).toMatchObject({ "cache-control": "no-cache", "x-own": "yes" });
      expect(headers["expires"]).toBeUndefined();
      expect(headers["vary"]).toBeUndefined();
    });

    it("send 404.html in the same way, keep no-store, and leave every other file its headers", async () => {
      const lost = await ask("/static/none", undefined, { html: true, fallback: undefined });
      expect(lost).toMatchObject({ status: 404, headers: { "cache-control": "no-cache" } });
      const secret = await ask("/static/users/5", undefined, { headers: { "cache-control": "private, No-Store" } });
      expect(secret.headers["cache-control"]).toBe("private, No-Store");
      const asset = await ask("/static/app.js", undefined);
      expect(asset.headers).toMatchObject({ "cache-control": immutable["cache-control"], expires: "0" });
    });
  });

  describe("with `precompressed`", () => {
    const ask = (target: string, accepted?: string, ...headers: [string, string][]) =>
      call(
        mounted({ precompressed: true, html: true, headers: { "cache-control": "max-age=60", vary: "Cookie" } }),
        "GET",
        target,
        { headers: [...(accepted === undefined ? [] : [["accept-encoding", accepted] as const]), ...headers] },
      );

    it.each([
      ["gzip, deflate, br, zstd", "br", "brotli of main.js"],
      ["gzip", "gzip", "gzip - of main.js"],
      ["br;q=0.5, gzip", "gzip", "gzip - of main.js"],
      ["br;q=0, *", "gzip", "gzip - of main.js"],
      ["identity, br;q=0.5", undefined, "main();"],
      ["zstd", undefined, "main();"],
      ["", undefined, "main();"],
      [undefined, undefined, "main();"],
    ])("send, to a client that accepts %j, the file as %s", async (accepted, coding, text) => {
      const answer = await ask("/static/main.js", accepted);
      expect(answer).toMatchObject({ status: 200, text });
      expect(answer.headers).toMatchObject({
        "content-type": "text/javascript; charset=utf-8",
        "content-length": String(text.length),
        "cache-control": "max-age=60",
        vary: "Cookie, Accept-Encoding",
      });
      expect(answer.headers["content-encoding"]).toBe(coding);
    });

    it("have a separate ETag for each encoding, which conditions and ranges use", async () => {
      const forms = await Promise.all(["br", "gzip", "identity"].map((accepted) => ask("/static/main.js", accepted)));
      const tags = forms.map(({ headers }) => String(headers["etag"]));
      expect(new Set(tags).size).toBe(3);
      const [br, gz] = tags as [string, string];
      const again = await ask("/static/main.js", "br", ["if-none-match", br]);
      expect(again).toMatchObject({ status: 304, text: "", headers: { etag: br, vary: "Cookie, Accept-Encoding" } });
      expect(again.headers["content-encoding"]).toBeUndefined();
      expect((await ask("/static/main.js", "br", ["if-none-match", gz])).status).toBe(200);
      const part = await ask("/static/main.js", "br", ["range", "bytes=0-5"], ["if-range", br]);
      expect(part).toMatchObject({ status: 206, text: "brotli", headers: { "content-encoding": "br" } });
      expect((await ask("/static/main.js", "br", ["range", "bytes=0-5"], ["if-range", gz])).status).toBe(200);
    });

    it("send pages so as well, and HEAD the same head", async () => {
      const page = await ask("/static/docs/", "br");
      expect(page).toMatchObject({ text: "brotli of docs", headers: { "content-type": "text/html; charset=utf-8" } });
      const lost = await ask("/static/none", "gzip");
      expect(lost).toMatchObject({ status: 404, text: "gzip of 404", headers: { "content-encoding": "gzip" } });
      const app = mounted({ precompressed: true });
      const headers = [["accept-encoding", "br"]] as const;
      const [got, head] = [
        await call(app, "GET", "/static/main.js", { headers }),
        await call(app, "HEAD", "/static/main.js", { headers }),
      ];
      expect(head).toMatchObject({ status: 200, text: "", headers: got.headers });
    });

    it("send a file without encodings as usual, and never a symlink to the outside or an encoding without its file", async () => {
      const plain = await ask("/static/plain/file.txt", "br, gzip");
      expect(plain).toMatchObject({ status: 200, text: "plain", headers: { vary: "Cookie" } });
      const linked = await ask("/static/app.js", "br, gzip");
      expect(linked).toMatchObject({ text: "start();", headers: { vary: "Cookie" } });
      expect((await ask("/static/alone.js", "br")).status).toBe(404);
    });

    it("keep a custom content type, and serve the compressed file under its own name", async () => {
      const app = mounted({ precompressed: true, headers: { "content-type": "text/x-own" } });
      const answer = await call(app, "GET", "/static/main.js", { headers: [["accept-encoding", "br"]] });
      expect(answer.headers).toMatchObject({ "content-type": "text/x-own", "content-encoding": "br" });
      const file = await ask("/static/main.js.br", "br");
      expect(file).toMatchObject({
        text: "brotli of main.js",
        headers: { "content-type": "application/octet-stream" },
      });
      expect(file.headers["content-encoding"]).toBeUndefined();
    });
  });

  it("without `precompressed` send the file as it is", async () => {
    const answer = await call(mounted(), "GET", "/static/main.js", { headers: [["accept-encoding", "br, gzip"]] });
    expect(answer.text).toBe("main();");
    expect(Object.keys(answer.headers)).not.toContain("vary");
  });

  it("can be mounted at the root after all routes, in a router and in an App", async () => {
    const files = new StaticFiles(pathToFileURL(root), { html: true });
    const app = new App({ logger: new KeptLog(), docsUrl: null });
    app.get("/api", async () => "api");
    app.mount("/", files);
    expect((await call(app, "GET", "/api")).json).toBe("api");
    expect((await call(app, "GET", "/")).text).toBe("<p>home</p>");
    expect((await call(app, "GET", "/app.js")).text).toBe("start();");
    expect((await call(app, "GET", "/docs")).headers["location"]).toBe("/docs/");
    const inner = new App({ logger: new KeptLog() });
    inner.mount("/files", files);
    const router = new Router({ prefix: "/v1" });
    router.mount("/assets", files);
    const outer = new App({ logger: new KeptLog() });
    outer.mount("/inner", inner);
    outer.includeRouter(router);
    expect((await call(outer, "GET", "/inner/files/docs/")).text).toBe("<p>docs</p>");
    expect((await call(outer, "GET", "/inner/files/docs")).headers["location"]).toBe("/inner/files/docs/");
    expect((await call(outer, "GET", "/v1/assets/app.js")).text).toBe("start();");
  });

  it.each([
    ["is not part of the path", "/static/docs"],
    ["is part of the path", "/api/static/docs"],
  ])("work with a server's root_path that %s", async (_which, target) => {
    const app = mounted({ html: true });
    const behind: ASGIApp = (scope, receive, send) => app({ ...scope, root_path: "/api" } as Scope, receive, send);
    expect((await call(behind, "GET", `${target}/index.html`)).text).toBe("<p>docs</p>");
    expect((await call(behind, "GET", target)).headers["location"]).toBe("/api/static/docs/");
  });

  it("use the exception handlers of the App that mounts them", async () => {
    const app = mounted();
    app.exceptionHandler(404, () => ({ lost: true }));
    expect(await call(app, "GET", "/static/none")).toMatchObject({ status: 404, json: { lost: true } });
  });

  it("work without an App, and canonicalize the path themselves", async () => {
    const files = new StaticFiles(root, { html: true });
    expect((await call(files, "GET", "/docs/")).text).toBe("<p>docs</p>");
    expect((await call(files, "GET", "/a%20b%252f+%C3%BC.txt")).text).toBe("odd name");
    expect((await call(files, "GET", "//docs")).headers["location"]).toBe("/docs/");
    expect((await call(files, "GET", "/%2e%2e/secret.txt")).status).toBe(404);
    expect(await call(files, "POST", "/app.js")).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
    if (transport === "memory") expect((await call(files, "GET", "/%ff")).status).toBe(400);
  });

  it("of a missing folder result in 500, and the log contains the path", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.mount("/static", new StaticFiles("/no/such/folder"));
    expect((await call(app, "GET", "/static/a")).status).toBe(500);
    expect(log.lines).toEqual([expect.stringContaining('StaticFiles: "/no/such/folder" is not a readable folder')]);
  });
});

describe("StaticFiles", () => {
  it("reject traversal that a raw client sends", async () => {
    await using server = await served(mounted({ html: true }));
    for (const target of [
      "/static/../../secret.txt",
      "/static/..%2f..%2f..%2f..%2fetc/passwd",
      "/static/%2e%2e/%2e%2e/etc/passwd",
    ]) {
      await using wire = new Wire(server.port);
      const answer = await wire.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`).closed;
      expect(answer).toMatch(/^HTTP\/1.1 404/);
      expect(answer).not.toMatch(/secret|root:/);
    }
  });

  it("close a WebSocket with 4004, and reject the lifespan as a scope that they do not serve", async () => {
    const files = new StaticFiles(root);
    const sent: SendMessage[] = [];
    const ask = (scope: Scope) =>
      files(
        scope,
        () => Promise.reject(new Error()),
        (message) => void sent.push(message),
      );
    await ask({ type: "websocket", path: "/" });
    await expect(ask({ type: "lifespan" })).rejects.toThrow('Unknown scope type "lifespan"');
    expect(sent).toEqual([{ type: "websocket.close", code: 4004, reason: "No route" }]);
  });

  it("are an ASGI application and an instance of their class, and take the path of a folder", () => {
    const files: ASGIApp = new StaticFiles(root);
    expect(files).toBeInstanceOf(StaticFiles);
    expect(() => new StaticFiles(5 as unknown as string)).toThrow(ConfigurationError);
  });
});
