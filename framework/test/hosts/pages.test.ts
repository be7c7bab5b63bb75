/** The programs at the beginning of the migration pages, in which one route has moved. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "@jest/globals";
import { blocksOf } from "../docs/_blocks.js";
import { ANNOUNCE } from "./_announce.js";

const FRAMEWORK = path.join(import.meta.dirname, "../..");

function programsOf(page: string): string[] {
  const text = readFileSync(path.join(FRAMEWORK, "docs", page), "utf8");
  const section = text.slice(text.indexOf("## Move one route"));
  const own = section.slice(0, section.indexOf("\n## "));
  return blocksOf(page, own).map(({ code }) => code);
}

/** Runs a program on a free port, and returns the responses to these paths. */
async function responsesOf(program: string, paths: readonly string[]): Promise<unknown[]> {
  const code = ANNOUNCE + program.replace(/\b8000\b/, "0");
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: FRAMEWORK,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const port = /^port (\d+)$/.exec(line)?.[1];
      if (port === undefined) continue;
      return await Promise.all(paths.map(async (target) => (await fetch(`http://127.0.0.1:${port}${target}`)).json()));
    }
    throw new Error("The program has ended before it listened.");
  } finally {
    child.kill("SIGKILL");
    await once(child, "close");
  }
}

describe.each([
  ["migrate-from-express.md", "express", { by: "tsgi", user: "ada" }],
  ["migrate-from-fastify.md", "fastify", { by: "tsgi" }],
])("the programs of %s", (page, name, moved) => {
  const [inside = "", inFront = ""] = programsOf(page);

  it("serve a moved route inside the old application, and its other routes", async () => {
    expect(await responsesOf(inside, ["/api/moved", "/api/old"])).toEqual([moved, { by: name }]);
  });

  it("serve a moved route and, for every other path, the old application", async () => {
    expect(await responsesOf(inFront, ["/api/moved", "/api/old"])).toEqual([{ by: "tsgi" }, { by: name }]);
  });
});
