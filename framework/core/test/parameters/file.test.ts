import { expect, it } from "@jest/globals";
import {
  App,
  Body,
  Depends,
  File,
  type FileOptions,
  Form,
  type Params,
  Request,
  t,
  UploadFile,
  withParams,
} from "../../src/index.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import { multipart, rawMultipart } from "../../../test/support/multipart.js";
import { faultLines } from "../../../test/support/probe.js";

const cat = { filename: "cat.png", type: "image/png", content: "meow" };

/** A handler that reads its files, because they are closed after it has returned. */
function uploading(options: FileOptions = {}) {
  const app = new App();
  app.post("/", { params: { upload: File(options as FileOptions & { multiple: true }) } }, async ({ upload }) => {
    const files: UploadFile[] = Array.isArray(upload) ? upload : [upload];
    return Promise.all(
      files.map(async (file) => [
        file.filename,
        file.contentType,
        file.size,
        Buffer.from(await file.read()).toString(),
      ]),
    );
  });
  return app;
}

describeMatrix("a File", ({ call, probe }) => {
  it("is an UploadFile with name, type, size and content", async () => {
    const { json } = await call(uploading(), "POST", "/", multipart(["upload", cat]));
    expect(json).toEqual([["cat.png", "image/png", 4, "meow"]]);
  });

  it.each(["===1709208000123===", "----=_Part_10_4245465.1397723989380", "-XrQHxml_qhW/dc2hip09LUML", "a:b?(c)"])(
    "is read if its boundary is %s, without quotes",
    async (boundary) => {
      const head = 'Content-Disposition: form-data; name="upload"; filename="a.txt"\r\nContent-Type: text/plain';
      const form = rawMultipart(`--${boundary}\r\n${head}\r\n\r\nhello\r\n--${boundary}--\r\n`, boundary);
      expect((await call(uploading(), "POST", "/", form)).json).toEqual([["a.txt", "text/plain", 5, "hello"]]);
    },
  );

  it("can be declared with only the class", async () => {
    const ask = probe({ upload: UploadFile });
    expect((await ask("/", multipart(["upload", cat]))).args?.["upload"]).toMatchObject({ filename: "cat.png" });
    expect(faultLines(await ask("/", multipart()))).toEqual(["missing file.upload"]);
  });

  it("has the name of its alias", async () => {
    const ask = probe({ upload: File({ alias: "the-file" }) });
    expect((await ask("/", multipart(["the-file", cat]))).args?.["upload"]).toBeInstanceOf(UploadFile);
    expect(faultLines(await ask("/", multipart(["upload", cat])))).toEqual(["missing file.the-file"]);
  });

  it("is the last one if it is repeated, or an array with `multiple` or an array schema", async () => {
    const two = multipart(["upload", cat], ["upload", { filename: "b", content: "b" }]);
    expect((await call(uploading(), "POST", "/", two)).json).toEqual([["b", "application/octet-stream", 1, "b"]]);
    const all = (await call(uploading({ multiple: true }), "POST", "/", two)).json as string[][];
    expect(all.map(([name]) => name)).toEqual(["cat.png", "b"]);
    const bySchema = await probe({ upload: File(t.Array(t.Any())) })("/", two);
    expect(bySchema.args?.["upload"]).toHaveLength(2);
  });

  it("of a list schema may be too few or too many", async () => {
    const ask = probe({ upload: File(t.Array(t.Any(), { minItems: 2, maxItems: 3 })) });
    const files = (count: number) => multipart(...Array.from({ length: count }, () => ["upload", cat] as const));
    expect(faultLines(await ask("/", files(1)))).toEqual(["too_short file.upload"]);
    expect((await ask("/", files(3))).status).toBe(200);
    expect(faultLines(await ask("/", files(4)))).toEqual(["too_long file.upload"]);
  });

  it("is missing, null, undefined or an empty array if it is absent", async () => {
    const ask = probe({
      a: File({ default: null }),
      b: File(t.Optional(t.Any())),
      c: File({ multiple: true, default: [] }),
      d: File(t.Optional(t.Array(t.Any()))),
    });
    expect((await ask("/", multipart())).args).toEqual({ a: null, b: undefined, c: [], d: undefined });
    expect((await ask("/")).args).toEqual({ a: null, b: undefined, c: [], d: undefined });
    expect(faultLines(await probe({ a: File(), b: File({ multiple: true }) })("/", multipart()))).toEqual([
      "missing file.a",
      "missing file.b",
    ]);
    expect(faultLines(await probe({ a: File() })("/"))).toEqual(["missing file.a"]);
  });

  it("is absent if its input was left blank, but an empty file with a name is present", async () => {
    const ask = probe({ upload: File({ default: null }) });
    expect((await ask("/", multipart(["upload", { filename: "", content: "" }]))).args).toEqual({ upload: null });
    expect((await ask("/", multipart(["upload", ""]))).args).toEqual({ upload: null });
    const empty = await ask("/", multipart(["upload", { filename: "empty.txt", content: "" }]));
    expect(empty.args?.["upload"]).toMatchObject({ filename: "empty.txt", size: 0 });
  });

  it("is rejected under another name, as text, and as a file instead of text", async () => {
    const ask = probe({ upload: File(), title: Form() });
    expect(faultLines(await ask("/", multipart(["other", cat], ["title", "x"])))).toEqual(["missing file.upload"]);
    const text = await ask("/", multipart(["upload", "text"], ["title", "x"]));
    expect(text.faults).toEqual([
      { type: "file_type", loc: ["file", "upload"], msg: "Input should be a file, not text", input: "text" },
    ]);
    expect(faultLines(await ask("/", multipart(["upload", cat], ["title", cat])))).toEqual(["string_type form.title"]);
    const Titled = t.Object({ title: t.Optional(t.String()) });
    expect(faultLines(await probe({ f: Form(Titled) })("/", multipart(["title", cat])))).toEqual([
      "string_type form.title",
    ]);
  });

  it("never includes the input for a password-like name in an error", async () => {
    const answer = await probe({ secret_key: File() })("/", multipart(["secret_key", "hunter2"]));
    expect(faultLines(answer)).toEqual(["file_type file.secret_key"]);
    expect(answer.text).not.toContain("hunter2");
  });

  it("needs multipart/form-data, which is reported once", async () => {
    const answer = await probe({ a: File(), b: File({ default: null }), c: Form({ default: null }) })("/", {
      form: "a=1",
    });
    expect(answer.faults).toEqual([
      {
        type: "content_type",
        loc: ["file"],
        msg: "Content-Type should be multipart/form-data",
        input: "application/x-www-form-urlencoded",
      },
    ]);
    expect(faultLines(await probe({ a: File() })("/", { json: {} }))).toEqual(["content_type file"]);
    expect(faultLines(await probe({ a: File() })("/", { body: Buffer.from("x") }))).toEqual(["content_type file"]);
  });

  it("can be restricted to media types", async () => {
    const ask = probe({ upload: File({ mediaTypes: ["image/*", "application/pdf"] }) });
    const typed = (type: string) => ask("/", multipart(["upload", { ...cat, type }]));
    expect((await typed("image/png")).status).toBe(200);
    expect((await typed("Application/PDF; version=2")).status).toBe(200);
    const refused = await typed("imageology/png");
    expect(refused.faults).toEqual([
      {
        type: "content_type",
        loc: ["file", "upload"],
        msg: "Content-Type of the file should be image/* or application/pdf",
        input: "imageology/png",
      },
    ]);
  });

  it("and form fields are read in one parse, including in dependencies and the request", async () => {
    const getTitle = withParams({ title: Form() }, async ({ title }) => title);
    const app = new App();
    app.post(
      "/",
      { params: { upload: File(), title: Depends(getTitle), count: Form(t.Integer()), request: Request } },
      async ({ upload, title, count, request }) => ({
        title,
        count,
        isSame: (await request.form()).get("upload") === upload,
      }),
    );
    const sent = multipart(["title", "Ada"], ["count", "3"], ["upload", cat]);
    expect((await call(app, "POST", "/", sent)).json).toEqual({ title: "Ada", count: 3, isSame: true });
  });

  it.each(["__proto__", "constructor", "then"])("may be named %s", async (name) => {
    const ask = probe({ x: File({ alias: name }), y: Form({ alias: "toString" }) });
    const { args } = await ask("/", multipart([name, { ...cat, filename: name }], ["toString", "v"]));
    expect(args).toMatchObject({ x: { filename: name }, y: "v" });
    expect(Object.prototype).not.toHaveProperty("filename");
  });

  it.each([
    ["cut off", '--b\r\nContent-Disposition: form-data; name="upload"; filename="a"\r\n\r\nabc'],
    ["empty", ""],
    ["without names", "--b\r\nContent-Disposition: form-data\r\n\r\nabc\r\n--b--"],
  ])("in a form that is %s is 422", async (_case, body) => {
    expect(faultLines(await probe({ upload: File() })("/", rawMultipart(body, "b")))).toEqual(["form_invalid form"]);
  });
});

describeMatrix("a form that is multipart", ({ probe }) => {
  it("is read like one that is urlencoded", async () => {
    const ask = probe({
      a: Form(),
      n: Form(t.Integer()),
      list: Form(t.Array(t.Integer())),
      z: Form({ default: null }),
    });
    const sent = multipart(["a", "jörg x"], ["n", "5"], ["list", "1"], ["list", "2"], ["z", ""]);
    expect((await ask("/", sent)).args).toEqual({ a: "jörg x", n: 5, list: [1, 2], z: null });
  });
});

it("a File is rejected with a Body, with a default, with a schema that is not a file, and on a WebSocket", () => {
  const app = new App();
  const register = (params: object) => () => app.post("/", { params: params as Params }, async () => null);
  expect(register({ a: File(), b: Body(t.Object({})) })).toThrow(/a request has one body/);
  // @ts-expect-error -- nothing stands in for a file
  expect(register({ a: File({ default: "x" }) })).toThrow(/File\(\{ default: null \}\)/);
  expect(register({ a: File(t.Object({})) })).toThrow(/File\(\{ multiple: true \}\)/);
  expect(() => app.websocket("/ws", { params: { a: File() } }, async () => {})).toThrow(/WebSocket does not have/);
  expect(register({ a: globalThis.File })).toThrow(/import \{ File \} from "tsgi"/);
});
