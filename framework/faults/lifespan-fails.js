import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { Wire } from "./lib/wire.js";

export const fault = "a start-up hook that throws";
export const pass = "exit ≠ 0, the port never opened, what had started is stopped in reverse";

export async function run() {
  const figures = [];
  for (const workers of [1, 2]) {
    const probe = await Server.start();
    const { port } = probe;
    await probe.stop();
    const trying = Server.run({ fails: true, port, workers });
    let opened = 0;
    let ended = null;
    void trying.then(async (server) => (ended = await server.exited));
    while (ended === null) {
      const wire = new Wire(port);
      await new Promise((resolve) => wire.socket.once("connect", resolve).once("error", resolve));
      opened += wire.socket.readyState === "open" ? 1 : 0;
      wire.destroy();
    }
    const { stdout } = await trying;
    const isReversed = /first started\nsecond started\nsecond stopped\nfirst stopped/.test(stdout);
    const figure = `${workers === 1 ? "" : "2 workers: "}exit ${ended.status}, opened ${opened} times`;
    demand(ended.status !== 0 && opened === 0 && isReversed, `${figure}; ${stdout}`);
    figures.push(figure);
  }
  return figures.join(", ");
}
