/** The bulletins of the tool library: single requests, and stories of several. @module */
import { error, EVENTS, PLAIN, row, type Row, streamed } from "./_calls.js";
import type { Story } from "./_stories.js";

export const bulletinRows: readonly Row[] = [
  row(
    "publishes a bulletin that nobody hears",
    "POST /v1/bulletins/news",
    { json: { text: "hi" } },
    { status: 204, body: "", headers: PLAIN },
  ),
  row(
    "streams the bulletins of a topic to those who listen, in order",
    "GET /v1/bulletins/news?say=one&say=two",
    {},
    streamed('data: {"text":"one"}\n\ndata: {"text":"two"}\n\n', "text/event-stream", EVENTS),
  ),
  row(
    "refuses a listener that falls behind",
    "GET /v1/bulletins/news?say=one&say=two&buffer=1",
    {},
    error("GET", 429, 'A subscriber of "news" has fallen more than 1 messages behind.'),
  ),
];

export const bulletinStories: readonly Story[] = [
  {
    title: "continues a log after the last event that the client has",
    async tell({ send }) {
      const started = await send("PUT", "/v1/bulletins/logs/story?last=3");
      const whole = await send("GET", "/v1/bulletins/logs/story");
      const rest = await send("GET", "/v1/bulletins/logs/story", { headers: [["last-event-id", "2"]] });
      const none = await send("GET", "/v1/bulletins/logs/story", { headers: [["last-event-id", "3"]] });
      return [started.json, whole.text, rest.text, none.status];
    },
    expected: [
      { started: "story" },
      'id: 1\ndata: {"n":1}\n\nid: 2\ndata: {"n":2}\n\nid: 3\ndata: {"n":3}\n\n',
      'id: 3\ndata: {"n":3}\n\n',
      204,
    ],
  },
  {
    title: "reports that the producer of a log has failed",
    async tell({ send }) {
      await send("PUT", "/v1/bulletins/logs/broken?last=-1");
      const events = await send("GET", "/v1/bulletins/logs/broken");
      const all = await send("GET", "/v1/bulletins/logs/broken/all");
      return [/^id: 1\ndata: \{"n":1\}\n\nevent: error\ndata: \{"detail":"[^"]+"\}\n\n$/.test(events.text), all.json];
    },
    expected: [true, { lines: ["1: 1"], failed: true, status: "failed" }],
  },
];
