/** A separate Redis on a free port, for one run of a benchmark. */
import { spawn } from "node:child_process";

export async function startRedis() {
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const child = spawn("redis-server", ["--port", String(port), "--save", "", "--bind", "127.0.0.1"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const chunk of child.stdout) {
    if (!/ready to accept connections/i.test(String(chunk))) continue;
    child.stdout.resume();
    break;
  }
  return { port, stop: () => child.kill("SIGKILL") };
}
