import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { App, FileResponse, type FileResponseOptions, HTTPException } from "../../../src/index.js";
import { served, Wire } from "../../platforms/node/_http.js";
import { MemoryClient } from "../../../../test/support/client.js";
import { createFolder } from "../../../../test/support/folder.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { runs } from "../../../../test/support/fast-check.js";
import { describeMatrix } from "../../../../test/support/matrix.js";

const DIGITS = "0123456789".repeat(100);
const MODIFIED = new Date("2024-03-05T06:07:08.500Z");
const LAST_MODIFIED = "Tue, 05 Mar 2024 06:07:08 GMT";

const folder = createFolder({
  "root/digits.txt": DIGITS,
  "root/empty.txt": "",
  "root/deep/page.html": "<p>page</p>",
  "root/unknown.zzz": "?",
  "root/large.bin": new Uint8Array(3_000_000).fill(7),
  "root/..dots": "a name that starts with two dots",
  "root-beside/secret.txt": "secret",
  "secret.txt": "secret",
});
const root = path.join(folder, "root");
const digits = path.join(root, "digits.txt");
utimesSync(digits, MODIFIED, MODIFIED);
symlinkSync(path.join(folder, "secret.txt"), path.join(root, "link-out.txt"));
symlinkSync(folder, path.join(root, "folder-out"));
symlinkSync(digits, path.join(root, "link-in.txt"));
execFileSync("mkfifo", [path.join(root, "pipe")]);

const appOf = (file: string | URL, options?: FileResponseOptions) => {
  const log = new KeptLog();
  const app = new App({ logger: log });
  app.route("/", { methods: ["GET", "POST"] }, async () => new FileResponse(file, options));
  return { app, log };
};

/** Other systems cannot report the path of an open file. */
const describeOnLinux = process.platform === "linux" ? describe : describe.skip;

/** The files below the folder that this process has open. */
function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(folder) ? [target] : [];
    } catch {
      return [];
    }
  });
}

describeMatrix("a FileResponse", ({ call }) => {
  it("sends the file with its type, length, ETag and Last-Modified", async () => {
    const { app } = appOf(digits);
    const answer = await call(app, "GET", "/");
    expect(answer).toMatchObject({ status: 200, text: DIGITS });
    expect(answer.headers).toEqual({
      "content-type": "text/plain; charset=utf-8",
      "content-length": "1000",
      etag: expect.stringMatching(/^"[0-9a-z]+-[0-9a-z]+"$/),
      "last-modified": LAST_MODIFIED,
      "accept-ranges": "bytes",
    });
    expect(openFiles()).toEqual([]);
  });

  it("sends a large file whole", async () => {
    const answer = await call(appOf(path.join(root, "large.bin")).app, "GET", "/");
    expect(answer.body.equals(Buffer.alloc(3_000_000, 7))).toBe(true);
  });

  it("sends an empty file", async () => {
    const answer = await call(appOf(path.join(root, "empty.txt")).app, "GET", "/");
    expect(answer).toMatchObject({ status: 200, text: "", headers: { "content-length": "0" } });
  });

  it("responds to HEAD with the headers of GET and without the file", async () => {
    const { app } = appOf(digits);
    const { headers } = await call(app, "GET", "/");
    expect(await call(app, "HEAD", "/")).toMatchObject({ status: 200, text: "", headers });
    expect(await call(app, "HEAD", "/", { headers: [["range", "bytes=0-1"]] })).toMatchObject({ status: 200, headers });
    expect(openFiles()).toEqual([]);
  });

  it("accepts a file: URL, a path below root, and a path whose names start with dots", async () => {
    expect((await call(appOf(pathToFileURL(digits)).app, "GET", "/")).text).toBe(DIGITS);
    expect((await call(appOf("digits.txt", { root }).app, "GET", "/")).text).toBe(DIGITS);
    expect((await call(appOf(digits, { root: pathToFileURL(root) }).app, "GET", "/")).text).toBe(DIGITS);
    expect((await call(appOf("deep/../digits.txt", { root }).app, "GET", "/")).text).toBe(DIGITS);
    expect((await call(appOf("link-in.txt", { root }).app, "GET", "/")).text).toBe(DIGITS);
    expect((await call(appOf("..dots", { root }).app, "GET", "/")).status).toBe(200);
  });

  it("may be given to many requests", async () => {
    const response = new FileResponse(digits);
    const app = new App();
    app.get("/", async () => response);
    const headers = [["range", "bytes=0-4"]] as const;
    expect((await call(app, "GET", "/", { headers })).text).toBe("01234");
    expect(await call(app, "GET", "/")).toMatchObject({ status: 200, text: DIGITS });
  });

  it("below root follows no link that replaces the file while it is being opened", async () => {
    const [place, next] = [path.join(root, "swapped.txt"), path.join(root, "next.txt")];
    const over = new AbortController();
    const swap = async () => {
      while (!over.signal.aborted) {
        await writeFile(next, "own");
        await rename(next, place);
        await symlink("../secret.txt", next);
        await rename(next, place);
      }
    };
    const swapping = swap();
    const { app } = appOf("swapped.txt", { root });
    const texts = new Set<string>();
    for (let count = 0; count < runs(500); count++) texts.add((await call(app, "GET", "/")).text);
    over.abort();
    await swapping;
    await unlink(place);
    expect(texts).not.toContain("secret");
  });

  describeOnLinux("on Linux", () => {
    it("below root follows no link that replaces a folder while a file in it is being opened", async () => {
      const [place, own, outside] = ["place", "own", "outside"].map((name) => path.join(root, name)) as [
        string,
        string,
        string,
      ];
      await mkdir(own);
      await writeFile(path.join(own, "secret.txt"), "own");
      await symlink("../root-beside", outside);
      const over = new AbortController();
      const swap = async () => {
        while (!over.signal.aborted) {
          await rename(own, place);
          await rename(place, own);
          await rename(outside, place);
          await rename(place, outside);
        }
      };
      const { app } = appOf("place/secret.txt", { root });
      await rename(own, place);
      expect((await call(app, "GET", "/")).text).toBe("own");
      await rename(place, own);
      const swapping = swap();
      const texts = new Set<string>();
      for (let count = 0; count < runs(1500); count++) texts.add((await call(app, "GET", "/")).text);
      over.abort();
      await swapping;
      await rm(own, { recursive: true });
      await unlink(outside);
      expect(texts).not.toContain("secret");
      expect(openFiles()).toEqual([]);
    });
  });

  it.each<[string, string]>([
    ["a parent", "../secret.txt"],
    ["a parent further down", "deep/../../secret.txt"],
    ["an absolute path", path.join(folder, "secret.txt")],
    ["/etc/passwd", "/etc/passwd"],
    ["a folder whose name begins as root's", "../root-beside/secret.txt"],
    ["a link to a file outside", "link-out.txt"],
    ["a link to a folder outside", "folder-out/secret.txt"],
    ["an encoded parent", "%2e%2e%2fsecret.txt"],
    ["an encoded slash", "..%2fsecret.txt"],
    ["a backslash", "..\\secret.txt"],
    ["NUL", "digits.txt\0.png"],
    ["root itself", ""],
    ["a folder", "deep"],
    ["a file as a folder", "digits.txt/more"],
    ["a pipe", "pipe"],
    ["a name that is too long", "a".repeat(300)],
    ["what is not there", "none.txt"],
  ])("below root never serves %s: 404", async (_what, file) => {
    const { app, log } = appOf(file, { root });
    expect(await call(app, "GET", "/")).toMatchObject({ status: 404, json: { detail: "Not Found" } });
    expect(openFiles()).toEqual([]);
    expect(log.lines).toEqual([]);
  });

  it("without root is 404 when the file is missing", async () => {
    expect((await call(appOf(path.join(folder, "none")).app, "GET", "/")).status).toBe(404);
    expect((await call(appOf("/dev/zero").app, "GET", "/")).status).toBe(404);
  });

  it("results in 500 if its root does not exist, and the log contains the path", async () => {
    const { app, log } = appOf("a.txt", { root: "/no/such/folder" });
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(log.lines).toEqual([expect.stringContaining('The root "/no/such/folder"')]);
  });

  it("can have a custom status, media type and headers", async () => {
    const { app } = appOf(digits, {
      statusCode: 201,
      mediaType: "application/x-digits",
      headers: { ETag: '"mine"', "Cache-Control": "no-cache" },
    });
    const answer = await call(app, "GET", "/", { headers: [["if-none-match", '"mine"']] });
    expect(answer.status).toBe(201); // conditions are asked of a 200 only
    expect(answer.headers).toMatchObject({
      "content-type": "application/x-digits",
      etag: '"mine"',
      "cache-control": "no-cache",
    });
  });

  it.each([
    ["page.html", "text/html; charset=utf-8", "deep/page.html"],
    ["an unknown type", "application/octet-stream", "unknown.zzz"],
  ])("has the right media type: %s is %s", async (_what, type, file) => {
    expect((await call(appOf(file, { root }).app, "GET", "/")).headers["content-type"]).toBe(type);
  });

  it("sets the name under which it is saved", async () => {
    const saved = async (options: FileResponseOptions) =>
      (await call(appOf(digits, options).app, "GET", "/")).headers["content-disposition"];
    expect(await saved({ filename: "a b.txt" })).toBe('attachment; filename="a b.txt"');
    expect(await saved({ filename: 'a"b%20;.txt' })).toBe(
      `attachment; filename="a_b_20;.txt"; filename*=UTF-8''a%22b%2520%3B.txt`,
    );
    expect(await saved({ filename: "../../etc/it's (1)*.txt" })).toBe(`attachment; filename="it's (1)*.txt"`);
    expect(await saved({ filename: "a\u2028/b\\c\u2029/.txt" })).toBe('attachment; filename=".txt"');
    expect(await saved({ filename: "'é(*).txt" })).toBe(
      `attachment; filename="'_(*).txt"; filename*=UTF-8''%27%C3%A9%28%2A%29.txt`,
    );
    expect(await saved({ filename: "a\r\nSet-Cookie: b\0\u007f.txt" })).toBe(
      'attachment; filename="a__Set-Cookie: b__.txt"',
    );
    expect(await saved({ filename: "é\n.txt" })).toBe(`attachment; filename="__.txt"; filename*=UTF-8''%C3%A9_.txt`);
    expect(await saved({ filename: "naïve €.txt", disposition: "inline" })).toBe(
      `inline; filename="na_ve _.txt"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt`,
    );
  });

  it("ignores conditions and ranges of other methods than GET and HEAD", async () => {
    const answer = await call(appOf(digits).app, "POST", "/", {
      headers: [
        ["range", "bytes=0-4"],
        ["if-none-match", "*"],
      ],
    });
    expect(answer).toMatchObject({ status: 200, text: DIGITS });
  });
});

const ETAG = `"${statSync(digits, { bigint: true }).mtimeNs.toString(36)}-${(1000).toString(36)}"`;
const BEFORE = "Tue, 05 Mar 2024 06:07:07 GMT";
const AFTER = "Tue, 05 Mar 2024 06:07:09 GMT";

describeMatrix("a conditional request (RFC 9110 §13)", ({ call }) => {
  it.each<[number, Record<string, string>]>([
    [304, { "if-none-match": '"mine"' }],
    [200, { "if-none-match": ETAG }],
    [412, { "if-match": ETAG }],
    [304, { "if-modified-since": BEFORE }],
    [200, { "if-unmodified-since": BEFORE }],
    [206, { range: "bytes=0-1", "if-range": '"mine"' }],
  ])("uses the ETag and Last-Modified of the application: %i for %j", async (status, headers) => {
    const { app } = appOf(digits, { headers: { ETag: '"mine"', "Last-Modified": BEFORE } });
    expect((await call(app, "GET", "/", { headers: Object.entries(headers) })).status).toBe(status);
  });

  it.each<[number, Record<string, string>]>([
    [304, { "if-none-match": ETAG }],
    [304, { "if-none-match": `W/${ETAG}` }],
    [304, { "if-none-match": `"other", ${ETAG}` }],
    [304, { "if-none-match": `"a,b" ,W/"c",${ETAG}` }],
    [304, { "if-none-match": "*" }],
    [200, { "if-none-match": '"other"' }],
    [200, { "if-none-match": ETAG.slice(1, -1) }],
    [200, { "if-none-match": "" }],
    [304, { "if-modified-since": LAST_MODIFIED }],
    [304, { "if-modified-since": AFTER }],
    [304, { "if-modified-since": "Tuesday, 05-Mar-24 06:07:08 GMT" }],
    [304, { "if-modified-since": "Tue Mar  5 06:07:08 2024" }],
    [200, { "if-modified-since": BEFORE }],
    [200, { "if-modified-since": "yesterday" }],
    [200, { "if-modified-since": "2025-01-01T00:00:00Z" }],
    [200, { "if-none-match": '"other"', "if-modified-since": AFTER }], // §13.1.3: only If-None-Match is used
    [200, { "if-match": ETAG }],
    [200, { "if-match": "*" }],
    [412, { "if-match": '"other"' }],
    [412, { "if-match": `W/${ETAG}` }], // §13.1.1: the strong comparison
    [200, { "if-unmodified-since": LAST_MODIFIED }],
    [412, { "if-unmodified-since": BEFORE }],
    [200, { "if-unmodified-since": "never" }],
    [200, { "if-match": ETAG, "if-unmodified-since": BEFORE }], // §13.1.4: only If-Match is used
    [304, { "if-match": ETAG, "if-none-match": ETAG }],
    [412, { "if-match": '"other"', "if-none-match": ETAG }], // §13.2.2: If-Match first
    [304, { "if-none-match": ETAG, range: "bytes=0-1" }],
  ])("results in %i for %j", async (status, headers) => {
    const { app } = appOf(digits, { headers: { "cache-control": "max-age=1" }, filename: "digits.txt" });
    const answer = await call(app, "GET", "/", { headers: Object.entries(headers) });
    expect(answer.status).toBe(status);
    expect((await call(app, "HEAD", "/", { headers: Object.entries(headers) })).status).toBe(status);
    if (status === 200) expect(answer.text).toBe(DIGITS);
    if (status === 412) expect(answer.json).toEqual({ detail: "Precondition Failed" });
    if (status === 304) {
      expect(answer).toMatchObject({ text: "", headers: { etag: ETAG, "cache-control": "max-age=1" } });
      expect(Object.keys(answer.headers).filter((name) => name.startsWith("content-"))).toEqual([]);
    }
    expect(openFiles()).toEqual([]);
  });
});

describeMatrix("a request for ranges (RFC 9110 §14)", ({ call }) => {
  const ask = (headers: Record<string, string>, file = "digits.txt") =>
    call(appOf(file, { root }).app, "GET", "/", { headers: Object.entries(headers) });

  it.each<[string, number, number]>([
    ["bytes=0-0", 0, 0],
    ["bytes=0-4", 0, 4],
    ["bytes=995-", 995, 999],
    ["bytes=-5", 995, 999],
    ["bytes=-5000", 0, 999],
    ["bytes=990-5000", 990, 999],
    ["bytes= 3-4 ", 3, 4],
    ["BYTES=3-4", 3, 4],
    ["bytes=0-4,3-9", 0, 9],
    ["bytes=5-9,0-4", 0, 9],
    ["bytes=0-4,2000-3000", 0, 4],
  ])("%s returns bytes %i to %i", async (range, first, last) => {
    const answer = await ask({ range });
    expect(answer).toMatchObject({ status: 206, text: DIGITS.slice(first, last + 1) });
    expect(answer.headers).toMatchObject({
      "content-range": `bytes ${first}-${last}/1000`,
      "content-length": String(last - first + 1),
      "content-type": "text/plain; charset=utf-8",
      etag: ETAG,
    });
  });

  it("of several returns multipart/byteranges in the order of the file", async () => {
    const answer = await ask({ range: "bytes=900-904,0-1,-3" });
    expect(answer.status).toBe(206);
    const boundary = /^multipart\/byteranges; boundary=(.+)$/.exec(answer.headers["content-type"] as string)?.[1];
    const part = (range: string, text: string) =>
      `--${boundary}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Range: bytes ${range}/1000\r\n\r\n${text}\r\n`;
    expect(answer.text).toBe(
      `${part("0-1", "01")}${part("900-904", "01234")}${part("997-999", "789")}--${boundary}--\r\n`,
    );
    expect(answer.headers["content-length"]).toBe(String(answer.body.length));
    expect(answer.headers["content-range"]).toBeUndefined();
  });

  it("of several keeps those apart that lie a byte apart", async () => {
    const answer = await ask({ range: "bytes=0-1,3-4" });
    expect(answer.headers["content-type"]).toMatch(/^multipart\/byteranges; boundary=/);
    expect(answer.text.match(/Content-Range: .*/g)).toEqual([
      "Content-Range: bytes 0-1/1000",
      "Content-Range: bytes 3-4/1000",
    ]);
  });

  it.each(["bytes=1000-", "bytes=1000-2000,5000-", "bytes=-0", "bytes=99999999999999999999-"])(
    "%s is outside: 416 with the length",
    async (range) => {
      const answer = await ask({ range });
      expect(answer).toMatchObject({ status: 416, headers: { "content-range": "bytes */1000" } });
      expect(openFiles()).toEqual([]);
    },
  );

  it.each([
    "bytes=",
    "bytes=-",
    "bytes=a-b",
    "bytes=5-4",
    "bytes=0-4,",
    "bytes=0-4,x",
    "bytes=1",
    "bytes 0-4",
    "lines=0-4",
    "bytes=0x1-5",
    "bytes=--5",
    "bytes=0-4;5-6",
    `bytes=${"0-0,".repeat(60)}0-0`,
  ])("%s is ignored", async (range) => {
    expect(await ask({ range })).toMatchObject({ status: 200, text: DIGITS });
  });

  it("of an empty file results in 416, or in the whole empty file for its last bytes", async () => {
    expect((await ask({ range: "bytes=0-" }, "empty.txt")).status).toBe(416);
    expect((await ask({ range: "bytes=-1" }, "empty.txt")).status).toBe(200);
  });

  it.each<[number, string]>([
    [206, ETAG],
    [206, LAST_MODIFIED],
    [200, '"other"'],
    [200, `W/${ETAG}`],
    [200, AFTER],
    [200, BEFORE],
    [200, "nonsense"],
  ])("results in %i with If-Range: %s", async (status, ifRange) => {
    expect((await ask({ range: "bytes=0-4", "if-range": ifRange })).status).toBe(status);
  });

  it("takes time in proportion to any header", () => {
    const { app } = appOf("digits.txt", { root });
    return expect(
      Promise.all(
        ["bytes=" + " ".repeat(15_000), "bytes=" + "1".repeat(15_000), "bytes=0-0" + "\t".repeat(15_000) + "x"].map(
          (range) => call(app, "GET", "/", { headers: [["range", range]] }),
        ),
      ),
    ).resolves.toHaveLength(3);
  });
});

describe("the file of a response", () => {
  it("is closed if the client disconnects, over a socket, and no error is logged", async () => {
    const large = path.join(root, "reset.bin");
    writeFileSync(large, "");
    truncateSync(large, 200_000_000);
    const { app, log } = appOf(large);
    let settled = () => {};
    const over = new Promise<void>((resolve) => (settled = resolve));
    await using server = await served((...args) => app(...args).finally(args[0].type === "http" ? settled : undefined));
    await using wire = new Wire(server.port);
    wire.socket.once("data", () => wire.socket.pause());
    wire.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(wire.socket, "pause");
    expect(openFiles()).toEqual([large]);
    wire.socket.resetAndDestroy();
    await over;
    expect(openFiles()).toEqual([]);
    expect([...log.lines, ...server.logger.at("error")]).toEqual([]);
  });

  it("closes the connection if it becomes shorter while it is sent", async () => {
    const shrinking = path.join(root, "shrinking.bin");
    writeFileSync(shrinking, new Uint8Array(300_000));
    const { app, log } = appOf(shrinking);
    const client = new MemoryClient(app, "GET", "/");
    client.stop();
    await client.received(1);
    truncateSync(shrinking, 10);
    client.resume();
    await expect(client.ended).rejects.toThrow("The file has become shorter while it was sent.");
    expect(log.lines).toHaveLength(1);
    expect(openFiles()).toEqual([]);
  });

  it("is sent with its original length if it grows meanwhile", async () => {
    const growing = path.join(root, "growing.txt");
    writeFileSync(growing, "short");
    const client = new MemoryClient(appOf(growing).app, "GET", "/");
    client.stop();
    await client.received(1);
    writeFileSync(growing, "much longer than before");
    client.resume();
    await client.ended;
    expect(client.text).toBe("much ");
  });

  it("of an exception handler can be missing as well", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.exceptionHandler(HTTPException, () => new FileResponse("gone.html", { root, statusCode: 404 }));
    app.get("/", async () => {
      throw new HTTPException(403);
    });
    const client = new MemoryClient(app, "GET", "/");
    await client.ended;
    expect(client.text).toBe('{"detail":"Not Found"}');
  });
});

describe("the constructor of a FileResponse", () => {
  it("rejects an invalid path, and a filename that names no file", () => {
    expect(() => new FileResponse(1 as unknown as string)).toThrow(
      "FileResponse takes the path of a file, not number.",
    );
    expect(() => new FileResponse(digits, { filename: "a/" })).toThrow("names no file");
  });
});
