import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";

import { Gate, until } from "./_gate.js";
import { isAlive, Program } from "./_program.js";

describe("the worker processes of a server", () => {
  let gate: Gate;
  beforeEach(async () => {
    gate = await Gate.make();
  });
  afterEach(() => gate[Symbol.asyncDispose]());

  const firstPid = async (log: string) => {
    await until(async () => (await gate.lines(log).catch(() => [])).length === 1);
    const [pid] = await gate.lines(log);
    return Number(pid);
  };

  it.each([
    ["idle", "/plain"],
    ["in a request", "/wait/log"],
    ["in an endless loop", "/fault/loop"],
  ])("exit when it is killed, including one %s", async (_, path) => {
    await using program = Program.start("server.js", ["process", gate.folder]);
    const url = await program.said(/serves (\S+)/);
    const { pid } = (await (await fetch(`${url}/plain`)).json()) as { pid: number };
    const { stats } = (await (await fetch(`${url}/loop`)).json()) as { stats: { size: number } };
    expect(stats.size).toBe(2);
    const answer = fetch(url + path).catch(() => null);
    if (path === "/wait/log") await firstPid("log");
    if (path === "/fault/loop") await until(async () => (await gate.lines("loop").catch(() => [])).length === 1);
    program.kill("SIGKILL");
    await answer;
    await until(async () => !(await isAlive(pid)));
    await expect(isAlive(pid)).resolves.toBe(false);
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "finish their running calls if a %s is sent to the whole group",
    async (signal) => {
      await using program = Program.start("server.js", ["process", gate.folder], { isGroup: true });
      const url = await program.said(/serves (\S+)/);
      const running = fetch(`${url}/wait/log`);
      const pid = await firstPid("log");
      if (signal === "SIGHUP") process.kill(pid, signal);
      else program.kill(signal, "group");
      await gate.open();
      expect((await running).status).toBe(200);
      if (signal === "SIGHUP") program.kill("SIGTERM");
      await expect(program.ended).resolves.toEqual({ code: 0, signal: null });
      await until(async () => !(await isAlive(pid)));
    },
  );

  it("are replaced after kill -9 of each, while the server continues to respond", async () => {
    await using program = Program.start("server.js", ["process", gate.folder]);
    const url = await program.said(/serves (\S+)/);
    const running = [fetch(`${url}/wait/first`), fetch(`${url}/wait/second`)];
    const pids = [await firstPid("first"), await firstPid("second")];
    for (const pid of pids) process.kill(pid, "SIGKILL");
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([500, 500]);
    expect((await fetch(`${url}/plain`)).status).toBe(200);
    await until(async () => {
      const { stats } = (await (await fetch(`${url}/loop`)).json()) as { stats: { ready: number } };
      return stats.ready === 2;
    });
    expect([await gate.lines("first"), await gate.lines("second")]).toEqual(pids.map((pid) => [String(pid)]));
  });
});

describe("a server of several processes", () => {
  it.each(["process", "thread"])("has a %s pool in each, and ends with all of them", async (kind) => {
    await using program = Program.start("clustered.js", [kind]);
    const url = await program.said(/Listening on (\S+)/);
    const seen = new Set<number>();
    while (seen.size < 2) {
      const answer = await fetch(`${url}/plain`, { headers: { connection: "close" } });
      seen.add(((await answer.json()) as { pid: number }).pid);
    }
    program.kill("SIGTERM");
    await expect(program.ended).resolves.toEqual({ code: 0, signal: null });
    for (const pid of seen) await until(async () => !(await isAlive(pid)));
  });
});
