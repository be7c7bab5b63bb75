import { describe, expect, it } from "@jest/globals";
import { App, FormData, Request, UploadFile } from "../../../src/index.js";
import { call } from "../../../../test/support/call.js";
import { describeMatrix } from "../../../../test/support/matrix.js";
import { multipart } from "../../../../test/support/multipart.js";

describeMatrix("a FormData", ({ call: send }) => {
  it("returns text and files by name, in the order in which they were received", async () => {
    const app = new App();
    app.post("/", { params: { request: Request } }, async ({ request }) => {
      const form = await request.form();
      const show = (value: string | UploadFile | null) =>
        value instanceof UploadFile ? `file ${value.filename}` : value;
      return {
        isForm: form instanceof FormData,
        first: show(form.get("a")),
        all: form.getAll("a").map(show),
        absent: [form.get("b") === null, form.getAll("b"), form.has("b"), form.has("toString")],
        has: [form.has("a"), form.has("__proto__")],
        entries: [...form.entries()].map(([name, value]) => [name, show(value)]),
        iterated: [...form].map(([name]) => name),
      };
    });
    const sent = multipart(["a", "1"], ["__proto__", "2"], ["a", { filename: "f", content: "x" }], ["a", "3"]);
    expect((await send(app, "POST", "/", sent)).json).toEqual({
      isForm: true,
      first: "1",
      all: ["1", "file f", "3"],
      absent: [true, [], false, false],
      has: [true, true],
      entries: [
        ["a", "1"],
        ["__proto__", "2"],
        ["a", "file f"],
        ["a", "3"],
      ],
      iterated: ["a", "__proto__", "a", "a"],
    });
  });
});

describe("the text of a field", () => {
  it.each([
    ["a byte order mark, which is kept", Buffer.from("\uFEFFx"), "\uFEFFx"],
    ["bytes that are no UTF-8, which are replaced", Buffer.from([0xff, 0x78]), "\uFFFDx"],
    ["lines, which end as they came", Buffer.from("a\nb\r\nc"), "a\nb\r\nc"],
  ])("may have %s", async (_what, bytes, text) => {
    const app = new App();
    app.post("/", { params: { request: Request } }, async ({ request }) => (await request.form()).get("a"));
    const { headers } = multipart();
    const body = Buffer.concat([
      Buffer.from('------boundary1234\r\nContent-Disposition: form-data; name="a"\r\n\r\n'),
      bytes,
      Buffer.from("\r\n------boundary1234--"),
    ]);
    expect((await call(app, "POST", "/", { headers, body })).json).toBe(text);
  });
});
