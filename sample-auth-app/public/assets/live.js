/** Server-sent events by `fetch`, which can send the access token: `EventSource` sends no headers. */

/** Longer than a server that stops keeps its idle connections. */
const FIRST_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 15_000;

/** Reads the events of a response, each with its id and its data, `null` for an event without data. */
async function* readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    yield* events.map(parse);
  }
}

/** The server writes a field on one line, and its data are JSON. */
function parse(text) {
  const field = (name) =>
    text
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const data = field("event") === undefined ? field("data") : undefined; // a named event reports an error
  return { id: field("id"), data: data === undefined ? null : JSON.parse(data) };
}

/**
 * Calls `onData` for each event until `signal` aborts. If the connection is lost, it connects again after a pause, and
 * continues after the last event.
 *
 * @param connect sends the request with these headers; it throws an error with a `status` if the server rejects it
 */
export async function follow(connect, onData, signal) {
  let lastId;
  for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    try {
      const { body } = await connect(lastId === undefined ? {} : { "Last-Event-ID": lastId });
      pause = FIRST_PAUSE_MS;
      for await (const { id, data } of readEvents(body)) {
        if (data !== null) onData(data);
        lastId = id ?? lastId;
      }
    } catch (error) {
      if (error.status < 500 && error.status !== 429) return; // the session has ended
    }
    await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random() / 2)));
  }
}
