/** Configurations of nginx on the pages, read by nginx. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Block } from "./_blocks.js";

const CERTIFICATES = path.resolve(import.meta.dirname, "../../core/test/platforms/node/fixtures");
const PROGRAM = ["nginx", "/usr/sbin/nginx"].find((name) => spawnSync(name, ["-v"]).status === 0);

/** Whether nginx is installed. */
export const HAS_NGINX = PROGRAM !== undefined;

/** The errors of `nginx -t` for the sites of a block, with a test certificate, or an empty string. */
export function findNginxFault({ code }: Block): string {
  const folder = mkdtempSync(path.join(tmpdir(), "tsgi-nginx-"));
  const site = (code.startsWith("location") ? `server {\n${code}\n}` : code)
    .replaceAll(/(ssl_certificate +).*;/g, `$1${CERTIFICATES}/localhost.cert.pem;`)
    .replaceAll(/(ssl_certificate_key +).*;/g, `$1${CERTIFICATES}/localhost.key.pem;`);
  const bodies = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const temporary = bodies.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ");
  try {
    writeFileSync(
      path.join(folder, "nginx.conf"),
      `pid ${folder}/pid;\nevents {}\nhttp {\naccess_log off; ${temporary}\n${site}\n}\n`,
    );
    const flags = ["-t", "-q", "-e", "stderr", "-p", folder, "-c", "nginx.conf"];
    return spawnSync(PROGRAM as string, flags, { encoding: "utf8" }).stderr;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
