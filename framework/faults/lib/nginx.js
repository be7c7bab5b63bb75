/** nginx before several servers, for requests, WebSockets and streams. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Skipped } from "./outcome.js";

/** Debian keeps it out of the path of most users. */
const findNginx = () => ["nginx", "/usr/sbin/nginx"].find((program) => spawnSync(program, ["-v"]).status === 0);

/** Another server gets a request that this one has not taken, and a handshake that it rejects because it stops. */
const configuration = (folder, port, upstreams) => `
daemon off; ${process.getuid?.() === 0 ? "user root;" : ""} worker_processes 1; pid ${folder}/pid; error_log stderr notice;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  map $http_upgrade $connection_header { default upgrade; '' ''; }
  upstream app {
    zone app 64k;
    ${upstreams.map((upstream) => `server 127.0.0.1:${upstream} max_fails=0;`).join(" ")}
    keepalive 32;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://app; proxy_http_version 1.1; proxy_buffering off;
      proxy_set_header Host $http_host; proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_header;
      proxy_connect_timeout 1s; proxy_read_timeout 60s;
      proxy_next_upstream error timeout http_503; proxy_next_upstream_tries 3;
    }
  }
}`;

/** @throws Skipped if nginx is not installed */
export async function startNginx(upstreams) {
  const program = findNginx();
  if (program === undefined) throw new Skipped("nginx is not installed");
  const folder = mkdtempSync(join(tmpdir(), "tsgi-nginx-"));
  const port = await freePort();
  writeFileSync(join(folder, "nginx.conf"), configuration(folder, port, upstreams));
  const child = spawn(program, ["-p", folder, "-c", "nginx.conf", "-e", "stderr"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  process.once("exit", () => child.kill("SIGKILL"));
  const exited = once(child, "exit");
  let output = "";
  await new Promise((resolve, reject) => {
    child.stderr.on("data", (chunk) => {
      output += chunk;
      if (output.includes("start worker process ")) resolve();
    });
    void exited.then(() => reject(new Error(output)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    /** A server that restarts refuses connections, and the next one gets the request. */
    errors: () =>
      output.split("\n").filter((line) => /\[(?:error|crit|alert|emerg)\]/.test(line) && !/refused/.test(line)),
    async stop() {
      child.kill("SIGTERM");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}
