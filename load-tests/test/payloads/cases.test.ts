import { describe, expect, it } from "@jest/globals";
import { existsSync } from "node:fs";
import { HTTPS_CASES, PAYLOAD_CASES } from "../../src/payloads/cases.js";
import { createCertificate } from "../../src/payloads/certificate.js";
import { LARGE, SMALL } from "../../src/payloads/items.js";
import { type Case, faultOfReply } from "../../src/suite/case.js";

const [small, large, upload] = PAYLOAD_CASES as readonly [Case, Case, Case];
const [secure] = HTTPS_CASES as readonly [Case];

const faultOf = (one: Case, content: unknown) =>
  faultOfReply(one, {
    status: 200,
    headers: { "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify(content),
  });

describe("the payloads", () => {
  it.each([
    ["1 KB", SMALL, 1_024],
    ["16 KB", LARGE, 16_384],
  ])("are %s within a tenth", (_name, items, bytes) => {
    const ratio = JSON.stringify({ items }).length / bytes;
    expect(Math.abs(ratio - 1)).toBeLessThan(0.1);
  });

  it("are accepted as a whole", () => {
    expect(faultOf(small, { items: SMALL })).toBeNull();
    expect(faultOf(large, { items: LARGE })).toBeNull();
    expect(faultOf(upload, { bytes: 1_048_576 })).toBeNull();
    expect(faultOf(secure, { status: "ok" })).toBeNull();
  });

  it("are refused when something is missing", () => {
    expect(faultOf(small, { items: SMALL.slice(1) })).toContain("expected another body");
    expect(faultOf(upload, { bytes: 1_048_575 })).toContain("expected another body");
  });

  it("are uploaded as 1 MB", () => {
    expect(upload.body).toHaveLength(1_048_576);
  });

  it("have 1 KB of header lines with GET and POST, within a tenth", () => {
    const long = PAYLOAD_CASES.filter(({ name }) => name.endsWith("with 1 KB of header lines"));
    const bytes = long.map(({ headers }) => Object.entries(headers).flat().join(": \r\n").length);
    expect(long.map(({ method }) => method)).toEqual(["GET", "POST"]);
    expect(bytes.map((length) => Math.abs(length / 1_024 - 1) < 0.1)).toEqual([true, true]);
  });
});

describe("the certificate of a run", () => {
  it("is removed with the run, and absent without openssl", async () => {
    const certificate = await createCertificate();
    const files = Object.values(certificate?.environment ?? {});
    expect(files.map((file) => existsSync(file))).toEqual(files.map(() => true));
    await certificate?.[Symbol.asyncDispose]();
    expect(files.map((file) => existsSync(file))).toEqual(files.map(() => false));
  });
});
