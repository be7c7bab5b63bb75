import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, BackgroundTasks, File, UploadFile } from "../../../src/index.js";
import { call as callInMemory } from "../../../../test/support/call.js";
import { describeMatrix } from "../../../../test/support/matrix.js";
import { multipart } from "../../../../test/support/multipart.js";
import { MiB, noise, openUploads } from "./_files.js";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tsgi-upload-file-"));
});
afterAll(() => rm(folder, { recursive: true }));

describeMatrix("an UploadFile", ({ call }) => {
  /** The result of a handler for a file with this content. */
  async function upload(content: Uint8Array, use: (file: UploadFile) => Promise<unknown>): Promise<unknown> {
    const app = new App();
    app.post("/", { params: { file: File() } }, async ({ file }) => use(file));
    return (await call(app, "POST", "/", multipart(["file", { filename: "f", content }]))).json;
  }

  // In memory, and in a temporary file.
  describe.each([
    ["a small one", 1000],
    ["a large one", 3 * MiB + 5],
  ])("%s", (_what, size) => {
    const content = noise(size);
    const sum = (bytes: Uint8Array) => `${bytes.length} ${Buffer.compare(bytes, content)}`;

    it("is read in parts, to its end, and from any place", async () => {
      expect(
        await upload(content, async (file) => {
          const parts = [await file.read(10), await file.read(0), await file.read(5), await file.read()];
          const lengths = [...parts, await file.read(), await file.read(9)].map(({ length }) => length);
          file.seek(size - 3);
          const end = Buffer.from(await file.read(10)).toString("hex");
          file.seek(0);
          return [sum(Buffer.concat(parts)), lengths, end, sum(await file.read())];
        }),
      ).toEqual([`${size} 0`, [10, 0, 5, size - 15, 0, 0], content.subarray(-3).toString("hex"), `${size} 0`]);
    });

    it("is streamed completely, each time", async () => {
      expect(
        await upload(content, async (file) => {
          await file.read(7);
          const sums: string[] = [];
          for (let turn = 0; turn < 2; turn++) {
            const chunks: Uint8Array[] = [];
            for await (const chunk of file.stream()) chunks.push(chunk);
            sums.push(sum(Buffer.concat(chunks)));
          }
          return sums;
        }),
      ).toEqual([`${size} 0`, `${size} 0`]);
    });

    it("is saved completely, and replaces the existing file", async () => {
      const target = path.join(folder, "saved");
      await writeFile(target, "before");
      await upload(content, async (file) => {
        await file.read(7);
        await file.saveTo(target);
        await file.saveTo(pathToFileURL(path.join(folder, "by url")));
      });
      expect(sum(await readFile(target))).toBe(`${size} 0`);
      expect(sum(await readFile(path.join(folder, "by url")))).toBe(`${size} 0`);
      expect((await readdir(folder)).toSorted()).toEqual(["by url", "saved"]);
    });

    it("leaves no file if it cannot be saved, and keeps the existing one", async () => {
      const before = await readdir(folder);
      expect(
        await upload(content, async (file) => {
          const toFolder = await file.saveTo(folder).catch((error: unknown) => String(error));
          const toNowhere = await file.saveTo(path.join(folder, "none/x")).catch((error: unknown) => String(error));
          return [toFolder, toNowhere];
        }),
      ).toEqual([expect.stringMatching(/EISDIR|ENOTEMPTY|EEXIST/), expect.stringContaining("ENOENT")]);
      expect(await readdir(folder)).toEqual(before);
      expect((await readdir(path.dirname(folder))).filter((name) => name.endsWith(".part"))).toEqual([]);
    });

    it("is closed by close(), and when its request has ended", async () => {
      const kept: UploadFile[] = [];
      expect(
        await upload(content, async (file) => {
          kept.push(file);
          await file.close();
          await file.close();
          return file.read().catch((error: unknown) => String(error));
        }),
      ).toMatch(/^UploadClosedError/);
      await upload(content, async (file) => {
        kept.push(file);
      });
      for (const file of kept) {
        await expect(file.read()).rejects.toThrow("The uploaded file is closed");
        await expect(file.stream().next()).rejects.toThrow("The uploaded file is closed");
        await expect(file.saveTo(path.join(folder, "late"))).rejects.toThrow("The uploaded file is closed");
      }
      expect(await readdir(folder)).not.toContainEqual(expect.stringContaining("late"));
    });
  });

  it("is in memory up to 1 MiB, then in a temporary file that has no name", async () => {
    const look = async () => [openUploads().length, openUploads().every((name) => name.endsWith("(deleted)"))];
    expect(await upload(noise(MiB), look)).toEqual([0, true]);
    expect(await upload(noise(MiB + 1), look)).toEqual([1, true]);
    expect(openUploads()).toEqual([]);
  });

  it("is there for the background tasks of its request", async () => {
    const app = new App();
    const read: number[] = [];
    app.post("/", { params: { file: File(), tasks: BackgroundTasks } }, async ({ file, tasks }) => {
      tasks.addTask(async () => void read.push((await file.read()).length));
    });
    await call(app, "POST", "/", multipart(["file", { filename: "f", content: noise(2 * MiB) }]));
    expect(read).toEqual([2 * MiB]);
    expect(openUploads()).toEqual([]);
  });
});

describe("many files of one form", () => {
  it("take one descriptor, and keep their contents apart", async () => {
    const app = new App();
    const sizes = Array.from({ length: 40 }, (_, index) => (index % 5 === 0 ? 1_100_000 + index : 300_000 + index));
    let descriptors = 0;
    app.post("/", { params: { files: File({ multiple: true }) } }, async ({ files }) => {
      descriptors = openUploads().length;
      const wrong: number[] = [];
      for (const [index, file] of files.entries()) {
        const bytes = Buffer.from(await file.read());
        if (!bytes.equals(Buffer.alloc(sizes[index] ?? 0, `${index} `))) wrong.push(index);
      }
      return { count: files.length, wrong };
    });
    const parts = sizes.map((size, i) => ["files", { filename: "f", content: Buffer.alloc(size, `${i} `) }] as const);
    const { json } = await callInMemory(app, "POST", "/", multipart(...parts));
    expect(json).toEqual({ count: 40, wrong: [] });
    expect(descriptors).toBe(1);
  });
});

describe("the small files of a form", () => {
  it.each([
    [8, 0],
    [9, 1],
  ])("are in memory up to 8 MiB together: of %i files of 1 MiB, %i need a temporary file", async (count, open) => {
    const app = new App();
    app.post("/", { params: { files: File({ multiple: true }) } }, async () => openUploads().length);
    const content = Buffer.alloc(MiB);
    const parts = Array.from({ length: count }, () => ["files", { filename: "f", content }] as const);
    expect((await callInMemory(app, "POST", "/", multipart(...parts))).json).toBe(open);
  });
});

describe("an UploadFile made by hand", () => {
  it("replaces an uploaded one", async () => {
    const file = new UploadFile(Buffer.from("text"), { filename: "a.txt", contentType: "text/plain" });
    expect([file.filename, file.contentType, file.size, await file.text()]).toEqual(["a.txt", "text/plain", 4, "text"]);
  });

  it.each([Number.NaN, "x"])("rejects to read %p bytes", async (length) => {
    await expect(new UploadFile(new Uint8Array(3)).read(length as number)).rejects.toThrow(TypeError);
  });

  it("rejects a position before its beginning", () => {
    expect(() => new UploadFile(new Uint8Array(3)).seek(-1)).toThrow(RangeError);
  });
});
