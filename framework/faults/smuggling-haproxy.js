import { writeFileSync } from "node:fs";
import { compare } from "./lib/behind-proxy.js";

export const fault = "every shape of request smuggling through HAProxy";
export const pass = "the application hears exactly the requests that HAProxy logged";

const configuration = (port, upstream) => `
global
  log stdout format raw local0
defaults
  mode http
  timeout connect 2s
  timeout client 10s
  timeout server 10s
  option http-buffer-request
frontend front
  bind 127.0.0.1:${port}
  log global
  log-format "heard %ST %s %HM %[capture.req.uri,regsub(https?://[^/]*,,i)]"
  default_backend app
backend app
  http-reuse always
  server app 127.0.0.1:${upstream}
`;

export const run = () =>
  compare({
    command: "haproxy",
    start(folder, port, upstream) {
      writeFileSync(`${folder}/haproxy.cfg`, configuration(port, upstream));
      return ["-f", `${folder}/haproxy.cfg`];
    },
    logged: (_folder, output) =>
      Array.from(output.matchAll(/^heard (\S+) app (\S+ [^\s?]+)/gm), ([, status, request]) => ({ status, request })),
  });
