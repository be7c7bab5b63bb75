import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

const TEMPLATE = path.join(import.meta.dirname, "../../../nginx/site.conf.template");
/** Debian keeps it out of the path of most users. */
const NGINX = ["nginx", "/usr/sbin/nginx"].find((program) => runs(program, "-v"));

/** The reason why nginx is not available, or `null`. */
export const WITHOUT_NGINX =
  NGINX === undefined ? "nginx is not installed" : runs("openssl", "version") ? null : "openssl is not installed";

/** The nginx of docker-compose.yml, with a separate certificate, before the replicas at these ports. */
export async function startNginx(replicas: readonly number[]) {
  const folder = mkdtempSync(path.join(tmpdir(), "nginx-"));
  const [httpPort, httpsPort] = [await findFreePort(), await findFreePort()];
  makeCertificate(folder);
  const variables: Record<string, string> = {
    REPLICAS: replicas.map((port) => `server 127.0.0.1:${port} max_fails=0;`).join(" "),
    RESOLVER: "127.0.0.1",
    HTTP_PORT: `127.0.0.1:${httpPort}`,
    HTTPS_PORT: `127.0.0.1:${httpsPort}`,
    CERTIFICATES: folder,
  };
  const site = readFileSync(TEMPLATE, "utf8").replaceAll(
    /\$\{([A-Z_]+)\}/g,
    (_, name: string) => variables[name] ?? "",
  );
  writeFileSync(path.join(folder, "nginx.conf"), withSurroundings(site, folder));
  const server = spawn(NGINX ?? "", ["-p", folder, "-c", "nginx.conf", "-e", "stderr"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  server.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  await Promise.race([isListening(server.stderr), once(server, "exit").then(() => Promise.reject(new Error(stderr)))]);
  return {
    url: `https://localhost:${httpsPort}`,
    plainUrl: `http://localhost:${httpPort}`,
    certificate: readFileSync(path.join(folder, "tls.crt"), "utf8"),
    errors: () => stderr.split("\n").filter((line) => /\[(?:error|crit|alert|emerg)\]/.test(line)),
    [Symbol.asyncDispose]: async () => {
      const exited = once(server, "exit");
      server.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** nginx says at the level `notice` when its workers have started; it listens by then. */
async function isListening(stderr: NodeJS.ReadableStream): Promise<void> {
  let text = "";
  await new Promise<void>((resolve) => {
    stderr.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes("start worker process ")) {
        resolve();
      }
    });
  });
}

/** The surroundings of the site in the image's own nginx.conf, with all paths inside the folder. */
function withSurroundings(site: string, folder: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(" ");
  const user = process.getuid?.() === 0 ? "user root;" : "";
  return `daemon off; ${user} pid ${folder}/nginx.pid; error_log stderr notice; worker_processes 2;
events { worker_connections 256; }
http { access_log off; ${temporary}
${site}}
`;
}

function makeCertificate(folder: string): void {
  const files = ["-keyout", path.join(folder, "tls.key"), "-out", path.join(folder, "tls.crt")];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  execFileSync("openssl", ["req", "-x509", ...kind, ...names, ...files], { stdio: "ignore" });
}

/** nginx has to be told a port, so there is a moment in which another may take it. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

function runs(program: string, flag: string): boolean {
  try {
    execFileSync(program, [flag], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
