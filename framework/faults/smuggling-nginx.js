import { readFileSync, writeFileSync } from "node:fs";
import { compare } from "./lib/behind-proxy.js";

export const fault = "every shape of request smuggling through nginx";
export const pass = "the application hears exactly the requests that nginx logged";

const configuration = (folder, port, upstream) => `
daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 256; }
http {
  log_format heard '$upstream_status $request_method $uri';
  access_log ${folder}/access.log heard;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream app { server 127.0.0.1:${upstream}; keepalive 8; }
  server {
    listen 127.0.0.1:${port};
    underscores_in_headers on; ignore_invalid_headers off;
    location / {
      proxy_pass http://app; proxy_http_version 1.1; proxy_request_buffering off;
      proxy_set_header Connection ""; proxy_set_header Host $host;
    }
  }
}`;

export const run = () =>
  compare({
    command: "nginx",
    start(folder, port, upstream) {
      writeFileSync(`${folder}/nginx.conf`, configuration(folder, port, upstream));
      writeFileSync(`${folder}/access.log`, "");
      return ["-c", `${folder}/nginx.conf`, "-e", `${folder}/error.log`];
    },
    logged: (folder) =>
      Array.from(
        readFileSync(`${folder}/access.log`, "latin1").matchAll(/^(\d{3}) (\S+ \S+)$/gm),
        ([, status, request]) => ({ status, request }),
      ),
  });
