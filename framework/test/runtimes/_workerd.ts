/** A worker under workerd, bundled as its users bundle it: without Node's modules, for the condition `workerd`. */
import { cp, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { binaryOf, Program } from "./_program.js";

const config = (
  bundle: string,
  bindings: Readonly<Record<string, string>>,
) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "${bundle}")],
      bindings = [${Object.entries(bindings)
        .map(([name, text]) => `(name = "${name}", text = "${text}")`)
        .join()}],
      compatibilityDate = "2026-11-01",
      compatibilityFlags = ["enable_request_signal"],
    )),
    (name = "internet", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

/** Programs in addition to those of this folder, and bindings of text. */
interface WorkerOptions {
  readonly files?: readonly string[];
  readonly bindings?: Readonly<Record<string, string>>;
}

/** Bundles one of the programs and starts it. The program's `url` is the worker's. */
export async function startWorker(file: string, { files = [], bindings = {} }: WorkerOptions = {}): Promise<Program> {
  const prepare = async (folder: string): Promise<string> => {
    for (const from of files) await cp(from, join(folder, basename(from)));
    await build({
      entryPoints: [join(folder, file)],
      outfile: join(folder, "bundle.js"),
      bundle: true,
      format: "esm",
      platform: "browser",
      conditions: ["workerd", "worker", "browser"],
      logLevel: "error",
    });
    await writeFile(join(folder, "config.capnp"), config("bundle.js", bindings));
    return join(folder, "config.capnp");
  };
  // The first line of its standard output tells the port.
  const program = await Program.run(["workerd", [binaryOf("workerd"), "serve", "--control-fd=1"]], file, prepare);
  const { port } = JSON.parse(program.url) as { port: number };
  program.url = `http://127.0.0.1:${port}`;
  return program;
}
