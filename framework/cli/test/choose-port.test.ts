import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { choosePort } from "../src/choose-port.js";
import { freePort } from "../../test/support/free-port.js";

const host = "127.0.0.1";

/** A terminal, or another input and output. */
function createDialog(isTTY: boolean) {
  return {
    stdin: Object.assign(new PassThrough(), { isTTY }),
    stderr: Object.assign(new PassThrough(), { isTTY }),
  };
}

/** The port that a question offers. */
function offeredPort(output: PassThrough): Promise<number> {
  let text = "";
  return new Promise((resolve) => {
    output.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const [, offered] = / Take (\d+)\? \(Y\/n\) /.exec(text) ?? [];
      if (offered !== undefined) resolve(Number(offered));
    });
  });
}

describe("the port of tsgi dev", () => {
  let port: number;
  let server: Server;
  beforeEach(async () => {
    port = await freePort();
    server = createServer().listen(port, host);
    await once(server, "listening");
  });
  afterEach(async () => {
    await once(server.close(), "close");
  });

  it("is the requested one if that is free, or if the system is to choose", async () => {
    const free = await freePort();
    expect(await choosePort({ host, port: free }, createDialog(true))).toBe(free);
    expect(await choosePort({ host, port: 0 }, createDialog(true))).toBe(0);
  });

  it("is rejected without a terminal if it is in use, with the next free one", async () => {
    const choosing = choosePort({ host, port }, createDialog(false));
    await expect(choosing).rejects.toMatchObject({
      code: "EADDRINUSE",
      message: expect.stringMatching(`^Port ${port} on 127.0.0.1 is in use.*--port (\\d+), or PORT=\\1`),
    });
  });

  it.each<[word: string, key: string, agrees: boolean]>([
    ["yes", "y\n", true],
    ["Yes", "Yes\n", true],
    ["Enter", "\n", true],
    ["no", "n\n", false],
    ["another word", "later\n", false],
  ])("is the next free one if the person at the terminal agrees: %s", async (_word, key, agrees) => {
    const { stdin, stderr } = createDialog(true);
    const choosing = choosePort({ host, port }, { stdin, stderr });
    const next = await Promise.race([offeredPort(stderr), choosing]);
    expect(next).toBeGreaterThan(port);
    stdin.write(key);
    if (agrees) expect(await choosing).toBe(next);
    else await expect(choosing).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  it("is rejected if the input ends before a key", async () => {
    const { stdin, stderr } = createDialog(true);
    const choosing = choosePort({ host, port }, { stdin, stderr });
    expect(await Promise.race([offeredPort(stderr), choosing])).toBeGreaterThan(port);
    stdin.end();
    await expect(choosing).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});
