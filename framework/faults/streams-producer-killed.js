import { ask, Live } from "./lib/live.js";
import { demand } from "./lib/outcome.js";

export const fault = "a stream whose producer is killed with -9 while a client reads it on another machine";
export const pass = "the client gets the event error within 15 s, after all events; the status is failed";

export async function run() {
  const live = await Live.open();
  const [here, there] = live.servers;
  try {
    await ask(here, "a", { method: "PUT" });
    const response = await ask(there, "a");
    let text = "";
    let killedAt = 0;
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (killedAt === 0 && text.includes("id: 10\n")) {
        killedAt = performance.now();
        here.kill("SIGKILL");
      }
    }
    const seconds = (performance.now() - killedAt) / 1_000;
    const numbers = [...text.matchAll(/^data: (\d+)$/gm)].map(([, number]) => Number(number));
    const isWhole = numbers.every((number, index) => number === index + 1);
    const isReported = text.endsWith('event: error\ndata: {"detail":"The producer has failed"}\n\n');
    const status = await (await ask(there, "a/status")).json();
    const figure = `${numbers.length} events, the event error after ${seconds.toFixed(1)} s, ${status}`;
    demand(isWhole && isReported && seconds < 15 && status === "failed", figure);
    return figure;
  } finally {
    await live.close();
  }
}
