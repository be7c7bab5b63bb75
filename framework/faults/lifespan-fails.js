import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { Wire } from "./lib/wire.js";

export const fault = "a startup hook that throws";
export const pass = "exit ≠ 0, the port never opened, what had started is stopped in reverse";

export async function run() {
  const figures = [];
  for (const workers of [1, 2]) {
    const probe = await Server.start();
    const { port } = probe;
    await probe.stop();
    const trying = Server.run({ fails: true, port, workers });
    let opened = 0;
    const over = new AbortController();
    const ending = trying.then((server) => server.exited).finally(() => over.abort());
    while (!over.signal.aborted) {
      const wire = new Wire(port);
      await new Promise((resolve) => wire.socket.once("connect", resolve).once("error", resolve));
      opened += wire.socket.readyState === "open" ? 1 : 0;
      wire.destroy();
    }
    const { stdout } = await trying;
    const ended = await ending;
    const isReversed = /first started\nsecond started\nsecond stopped\nfirst stopped/.test(stdout);
    const figure = `${workers === 1 ? "" : "2 workers: "}exit ${ended.status}, opened ${opened} times`;
    demand(ended.status !== 0 && opened === 0 && isReversed, `${figure}; ${stdout}`);
    figures.push(figure);
  }
  return figures.join(", ");
}
