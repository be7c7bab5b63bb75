import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { CLOSING, BOUNDARY, partHead } from "../../../../test/support/multipart.js";
import { MiB } from "./_files.js";
import { COMMANDS, UploadProcess } from "./_upload-process.js";

const APP = `
  import { readdirSync } from "node:fs";
  const { App, File, Request, UploadFile } = tsgi;
  const app = new App({ limits: { uploadBytes: 4 * 2 ** 30 } });
  app.post("/file", { params: { file: File() } }, async ({ file }) => file.size);
  app.post("/stream", { params: { request: Request } }, async ({ request }) => {
    let size = 0;
    for await (const chunk of request.stream()) size += chunk.length;
    return size;
  });
  app.post("/save", { params: { file: File() } }, async () => {
    const file = new UploadFile(new Uint8Array(4 * 2 ** 20));
    await file.saveTo(process.env.TMPDIR + "/saved");
  });
  app.get("/files", async () => readdirSync(process.env.TMPDIR));
  app.post("/files", async () => readdirSync(process.env.TMPDIR));
`;

const HEADERS = { "content-type": `multipart/form-data; boundary=${BOUNDARY}` };

/** A form with one file of this size. */
function* fileOf(size: number): Generator<Uint8Array> {
  const chunk = Buffer.alloc(MiB / 4, "x");
  yield Buffer.from(partHead("file", { filename: "f" }));
  for (let sent = 0; sent < size; sent += chunk.length) yield chunk.subarray(0, size - sent);
  yield Buffer.from(CLOSING);
}

/** Whether a process can have a separate disk here: a kernel may forbid it. */
function hasOwnDisk(): boolean {
  const { status } = spawnSync("bash", ["-c", COMMANDS.tmpfs, "bash", "true"], {
    env: { ...process.env, TMPDIR: "/mnt" },
  });
  return status === 0;
}

const linux = existsSync("/proc/self/status");
const describeOnLinux = linux ? describe : describe.skip;
const commands: (keyof typeof COMMANDS)[] = ["ulimit -f", ...(linux && hasOwnDisk() ? ["tmpfs" as const] : [])];

describe.each(commands)("a disk that is full (%s)", (command) => {
  it("responds to an upload with 507, logs the reason, removes the file, and accepts the next small one", async () => {
    await using server = await UploadProcess.start(APP, command);
    const upload = (size: number, target = "/file") => server.upload(target, HEADERS, fileOf(size));
    const refusal = { status: 507, text: '{"detail":"Insufficient Storage"}' };
    expect(await upload(10)).toEqual({ status: 200, text: "10" });
    expect(await upload(8 * MiB)).toEqual(refusal);
    await server.logged(/caused by\s+Error: (?:ENOSPC|EFBIG)/);
    expect(await upload(10)).toEqual({ status: 200, text: "10" });
    expect(await upload(10, "/save")).toEqual(refusal);
    expect(await upload(1.5 * MiB)).toEqual({ status: 200, text: String(1.5 * MiB) });
    expect(await upload(0, "/files")).toEqual({ status: 200, text: "[]" });
  });
});

describeOnLinux("a process that is killed in the middle of an upload", () => {
  it("leaves no file", async () => {
    await using server = await UploadProcess.start(APP);
    const [head, ...chunks] = fileOf(3 * MiB);
    await server.begin("/file", HEADERS, Buffer.concat([head ?? Buffer.of(), ...chunks.slice(0, 8)]), 10 * MiB);
    await server.holdsUpload();
    await server.kill();
    expect(await server.temporaryFiles()).toEqual([]);
  });
});

/** The most by which a server may grow, for any size of the body. */
const GROWTH = 100 * MiB;

function* bytes(size: number): Generator<Uint8Array> {
  const chunk = Buffer.alloc(MiB / 4, "x");
  for (let sent = 0; sent < size; sent += chunk.length) yield chunk;
}

// 1 GB takes seconds: `make test-all`.
const SIZE = process.env["TSGI_SLOW"] === undefined ? 128 * MiB : 1024 * MiB;

describeOnLinux(`${SIZE / MiB} MiB that are streamed in`, () => {
  it.each<[string, string, Record<string, string>, () => Iterable<Uint8Array>]>([
    ["through request.stream()", "/stream", {}, () => bytes(SIZE)],
    ["through a multipart upload", "/file", HEADERS, () => fileOf(SIZE)],
  ])("%s make the server grow by at most 100 MiB, and leave no files", async (_road, target, headers, body) => {
    await using server = await UploadProcess.start(APP);
    await server.upload(target, headers, fileOf(2 * MiB));
    const { rss } = await server.memory();
    expect(await server.upload(target, headers, body())).toEqual({ status: 200, text: String(SIZE) });
    const { peak } = await server.memory();
    expect(peak - rss).toBeLessThan(GROWTH);
    expect(await server.temporaryFiles()).toEqual([]);
  });
});
