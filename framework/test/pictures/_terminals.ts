/** Terminal output of the command and of an application: recorded, not written by hand. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { ITEMS_APP, Project, type RunningCommand } from "../../cli/test/_project.js";
import { blocksOf, fileOf } from "../docs/_blocks.js";
import { REPOSITORY } from "../docs/_project.js";

/** A terminal, line by line: a command begins with `$ `, an action next to it with `# `, the rest is output. */
export interface Recording {
  readonly title: string;
  readonly text: string;
}

/** The files of a page after its first block that contains this text. */
async function filesOf(page: string, last: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const block of blocksOf(page, await readFile(path.join(REPOSITORY, page), "utf8"))) {
    const file = fileOf(block);
    if (file === null || !file.endsWith(".ts")) continue;
    files[file] = block.code;
    if (block.code.includes(last)) return files;
  }
  throw new Error(`${page} has no block with ${last}.`);
}

/** Waits until a `tsgi dev` serves, and returns the address. */
async function served(command: RunningCommand): Promise<string> {
  const [, address = ""] = await command.next(/Listening on http:\/\/(\S+)/);
  await command.next(/Ready in \d+ ms\.\n/);
  return address;
}

const atDefaultPort = (text: string, address: string) => text.replaceAll(address, "127.0.0.1:8000");

/** `tsgi dev`: it serves, gets a file with a syntax error, reports its place, and serves again after it is fixed. */
async function recordDev(): Promise<Recording> {
  const files = await filesOf("framework/core/README.md", "new App(");
  const source = files["src/app.ts"] ?? "";
  const broken = source.replace("items.get(item_id)", "items.get(item_id");
  if (broken === source) throw new Error("The example of framework/core/README.md has no items.get(item_id) to break.");
  await using project = await Project.create(files);
  const command = project.start(["dev", "--port", "0"]);
  const first = await served(command);
  const begin = command.output.length;
  await project.write({ "src/app.ts": broken });
  await command.next(/Waiting for a change\.\n/);
  const end = command.output.length;
  await project.write({ "src/app.ts": source });
  const second = await served(command);
  const text = [
    "$ npx tsgi dev",
    atDefaultPort(command.output.slice(0, begin), first),
    "# a bracket is lost, and the file saved",
    command.output.slice(begin, end),
    "# the bracket is back",
    atDefaultPort(command.output.slice(end), second),
  ];
  return { title: "tsgi dev", text: text.map((part) => part.trim()).join("\n\n") };
}

/** `tsgi routes`, with dependencies, a plain handler and a WebSocket. */
async function recordRoutes(): Promise<Recording> {
  await using project = await Project.create({ "src/app.ts": ITEMS_APP });
  const { stdout } = await project.spawn("routes");
  return { title: "tsgi routes", text: `$ npx tsgi routes\n${stdout.trim()}` };
}

/** Two errors of one request, in one response. */
async function recordValidation(): Promise<Recording> {
  await using project = await Project.create(await filesOf("README.md", "await serve("));
  await using example = await serveExample(project);
  const type = "Content-Type: application/json";
  const body = '{"name":"","price":"90"}';
  const { stdout } = await promisify(execFile)("curl", ["-si", "-H", type, "-d", body, `${example.url}/items`]);
  const typed = `$ curl -i -H '${type}' \\\n    -d '${body}' http://127.0.0.1:8000/items`;
  const kept = stdout
    .replaceAll("\r", "")
    .split("\n")
    .filter((line) => !/^(date|connection|keep-alive):/i.test(line));
  return {
    title: "a validation error",
    text: `${typed}\n${kept.join("\n").trim()}`,
  };
}

/** A program that serves, until it is disposed of. */
export interface Example extends AsyncDisposable {
  readonly url: string;
}

/** Serves the example of the top README, which is `app.ts` in a project. */
export async function serveExample(project: Project): Promise<Example> {
  const child = execFile(process.execPath, ["--import", "tsx", "app.ts"], {
    cwd: project.folder,
    env: { ...process.env, PORT: "0" },
  });
  return untilServing(child, /Listening on (http:\S+)/);
}

/** Waits for the line of a program that says where it serves. */
export async function untilServing(child: ReturnType<typeof execFile>, pattern: RegExp): Promise<Example> {
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let output = "";
    const read = (text: string) => {
      output += text;
      const match = pattern.exec(output);
      if (match) resolve(match[1] ?? "");
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("close", () => reject(new Error(`It did not start:\n${output}`)));
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Every terminal that is shown, by the name of its picture. */
export const TERMINALS: Readonly<Record<string, () => Promise<Recording>>> = {
  "terminal-dev.svg": recordDev,
  "terminal-routes.svg": recordRoutes,
  "terminal-validation.svg": recordValidation,
};

/** The example of the top README as a project. */
export async function createExampleProject(): Promise<Project> {
  return Project.create(await filesOf("README.md", "await serve("));
}
