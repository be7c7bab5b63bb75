/** Clients of other makes: curl, nghttp and h2load (Debian: curl, nghttp2-client). */
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { httpApp, readBody, respond, served, type Served } from "./_http.js";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name));
const tls = { cert: fixture("localhost.cert.pem"), key: fixture("localhost.key.pem") };
const run = async (program: string, ...args: string[]) => (await promisify(execFile)(program, args)).stdout;

/** The reason why a program cannot be tried, for the title of a skipped test; `""` if it can. */
function obstacleTo(program: string): string {
  try {
    const version = execFileSync(program, ["--version"], { encoding: "utf8" });
    return version.includes("nghttp2") ? "" : ` (skipped: ${program} is built without HTTP/2)`;
  } catch {
    return ` (skipped: ${program} is not installed; Debian has it in curl and nghttp2-client)`;
  }
}

const noCurl = obstacleTo("curl");
const noNghttp = obstacleTo("nghttp") || obstacleTo("h2load");
const withCurl = noCurl === "" ? describe : describe.skip;
const withNghttp = noNghttp === "" ? describe : describe.skip;

const app = httpApp(async (scope, receive, send) => {
  const { length } = await readBody(receive);
  if (scope.path === "/large") await respond(send, 200, "x".repeat(5_000_000));
  else await respond(send, 200, `${scope.http_version} ${scope.scheme} ${length}`, [["content-type", "text/plain"]]);
});

describe.each([
  ["without TLS", {}, ["--http2-prior-knowledge"], []],
  ["with TLS", { tls }, ["--http2", "--insecure"], ["--no-verify-peer"]],
])("HTTP/2 %s", (_how, options, curl, nghttp) => {
  let server: Served;
  const scheme = "tls" in options ? "https" : "http";
  beforeAll(async () => {
    server = await served(app, { http2: true, ...options });
  });
  afterAll(() => server.close());

  withCurl(`curl${noCurl}`, () => {
    it("gets responses with and without a body", async () => {
      const format = ["-sS", "-w", " %{http_version} %{http_code} %{size_download}"];
      expect(await run("curl", ...curl, ...format, server.url)).toBe(`2 ${scheme} 0 2 200 ${3 + scheme.length + 1}`);
      const posted = await run("curl", ...curl, ...format, "--data", "x".repeat(100_000), server.url);
      expect(posted).toMatch(`2 ${scheme} 100000 2 200`);
      const head = await run("curl", ...curl, "-sSI", server.url);
      expect(head).toMatch(/^HTTP\/2 200 \r\ncontent-type: text\/plain\r\ncontent-length: \d+\r\ndate: /);
      const large = await run("curl", ...curl, ...format, "-o", "/dev/null", `${server.url}/large`);
      expect(large).toBe(" 2 200 5000000");
    });

    it("gets a response over HTTP/1.1 on the same port", async () => {
      expect(await run("curl", "-sS", "--insecure", "--http1.1", server.url)).toBe(`1.1 ${scheme} 0`);
    });
  });

  withNghttp(`nghttp and h2load${noNghttp}`, () => {
    it("gets responses with a body and trailers", async () => {
      const certificate = join(import.meta.dirname, "fixtures", "localhost.cert.pem");
      const args = ["--verbose", ...nghttp, "--data", certificate, "--trailer", "x-checksum: 1", `${server.url}/`];
      const output = await run("nghttp", ...args);
      expect(output).toMatch(/recv \(stream_id=\d+\) :status: 200/);
      expect(output).toContain(`2 ${scheme} ${tls.cert.length}`);
      expect(output).not.toMatch(/recv (RST_STREAM|GOAWAY)/);
    });

    it("gets a response to each of 5,000 requests, 50 streams on each of 4 connections", async () => {
      const output = await run("h2load", "--requests", "5000", "--clients", "4", "-m", "50", `${server.url}/`);
      expect(output).toMatch(
        /requests: 5000 total, 5000 started, 5000 done, 5000 succeeded, 0 failed, 0 errored, 0 timeout/,
      );
      expect(server.logger.at("error")).toEqual([]);
    });
  });
});
