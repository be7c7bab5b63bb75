/** Images that Buildah builds from a Dockerfile and runs, without a Docker Engine and without a registry of images. */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";

import { LimitedProgram } from "../support/limited-program.js";

/** The programs that the base image has, in addition to Node and npm. */
const PROGRAMS = ["sh", "chown", "cp", "env", "gzip", "mkdir", "rm", "tar"];

/** A library of glibc that native packages load, and no program here does. */
const LIBRARY = "librt.so.1";

/** The name of the base image in the Dockerfiles. */
const BASE = "docker.io/library/node:22-bookworm-slim";

const CERTIFICATES = process.env["NODE_EXTRA_CA_CERTS"] ?? "/etc/ssl/certs/ca-certificates.crt";

/** The reason that images cannot be built here, or `null`. */
export function findImageFault(): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "Buildah runs as root on Linux";
  return spawnSync("buildah", ["--version"]).status === 0 ? null : "Buildah is not installed";
}

const locate = (program: string): string =>
  realpathSync(execFileSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).trim());

/** Copies a program into a root folder, with the libraries that it loads. */
function copyProgram(root: string, name: string): void {
  const file = name === "node" ? realpathSync(process.execPath) : locate(name);
  copyFileSync(file, path.join(root, "usr/bin", name));
  const { stdout } = spawnSync("ldd", [file], { encoding: "utf8" });
  for (const [library] of stdout.matchAll(/\/\S+/g)) {
    mkdirSync(path.join(root, path.dirname(library)), { recursive: true });
    copyFileSync(library, path.join(root, library));
    const other = path.join(path.dirname(library), LIBRARY);
    if (existsSync(other)) copyFileSync(other, path.join(root, other));
  }
}

/** Writes the files of the base image: Node, npm, a shell, and the user `node`. */
function writeRoot(root: string): void {
  for (const folder of ["bin", "etc/ssl", "home/node", "root", "tmp", "usr/bin", "usr/lib/node_modules"]) {
    mkdirSync(path.join(root, folder), { recursive: true });
  }
  for (const program of ["node", ...PROGRAMS]) copyProgram(root, program);
  symlinkSync("/usr/bin/sh", path.join(root, "bin/sh"));
  cpSync(path.join(locate("npm"), "../.."), path.join(root, "usr/lib/node_modules/npm"), { recursive: true });
  for (const name of ["npm", "npx"]) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, path.join(root, "usr/bin", name));
  }
  writeFileSync(path.join(root, "etc/passwd"), "root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n");
  writeFileSync(path.join(root, "etc/group"), "root:x:0:\nnode:x:1000:\n");
  if (existsSync(CERTIFICATES)) copyFileSync(CERTIFICATES, path.join(root, "etc/ssl/certificates.crt"));
}

interface Config {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** The images and containers in a folder, which are lost with it. */
export class Images {
  readonly #flags: readonly string[];
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
    this.#flags = ["--storage-driver", "vfs", "--root", `${home}/images`, "--runroot", `${home}/run`];
  }

  /** Makes the base image of the Dockerfiles from the programs of this machine. */
  createBase(): void {
    const context = path.join(this.#home, "base");
    writeRoot(path.join(context, "root"));
    const variables = "PATH=/usr/bin:/bin NODE_EXTRA_CA_CERTS=/etc/ssl/certificates.crt npm_config_prefer_offline=true";
    writeFileSync(path.join(context, "Dockerfile"), `FROM scratch\nCOPY root/ /\nENV ${variables}\n`);
    this.build(BASE, context);
  }

  /** Builds an image from a Dockerfile, with the cache of npm. */
  build(name: string, context: string, file = "Dockerfile"): void {
    const cache = execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).trim();
    const isolated = ["--isolation", "chroot", "--pull-never", "--format", "docker", "--volume", `${cache}:/root/.npm`];
    this.#buildah("bud", ...isolated, "--tag", name, "--file", path.join(context, file), context);
  }

  /** The settings of an image, from its Dockerfile. */
  configOf(name: string): Config {
    const { Docker } = JSON.parse(this.#buildah("inspect", "--type", "image", name)) as { Docker: { config: Config } };
    return Docker.config;
  }

  /** Makes a container of an image, and returns its name. */
  createContainer(name: string): string {
    return this.#buildah("from", "--pull-never", name).trim();
  }

  /** Runs a command in a container as its user, and returns the output. */
  run(container: string, command: readonly string[]): string {
    return this.#buildah("run", "--isolation", "chroot", container, "--", ...command);
  }

  /** Starts a command in a container, which has the network of this machine. */
  start(container: string, command: readonly string[], env: Readonly<Record<string, string>> = {}): LimitedProgram {
    const variables = Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
    const isolated = ["run", "--isolation", "chroot", ...variables, container, "--", ...command];
    return new LimitedProgram(["buildah", ...this.#flags, ...isolated], this.#home, { HOME: this.#home });
  }

  #buildah(...args: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync("buildah", [...this.#flags, ...args], {
      encoding: "utf8",
      maxBuffer: 2 ** 26,
    });
    if (status !== 0) throw new Error(`buildah ${args.join(" ")}\n${stdout}\n${stderr}`);
    return stdout;
  }
}
