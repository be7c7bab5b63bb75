import { describe, expect, it } from "@jest/globals";
import { EventReader } from "../../src/realtime/event-reader.js";
import { eventOf, faultOfEvent, Feed, toText } from "../../src/realtime/feed.js";

const HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n";
const TEXTS = [toText(eventOf(0)), toText(eventOf(1))];

function readAll(wire: string, size: number): string[] {
  const reader = new EventReader();
  const events: string[] = [];
  for (let at = 0; at < wire.length; at += size) {
    events.push(...reader.read(Buffer.from(wire.slice(at, at + size))));
  }
  return events;
}

describe("EventReader", () => {
  const expected = TEXTS.map((text) => text.slice(0, -2));

  it.each([1, 7, 10_000])("gives the events of a chunked response that comes %i bytes at a time", (size) => {
    const body = TEXTS.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join("");
    expect(readAll(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${body}`, size)).toEqual(expected);
  });

  it("gives the events of a response that ends with its connection", () => {
    expect(readAll(`${HEAD}\r\n${TEXTS.join("")}`, 5)).toEqual(expected);
  });

  it.each([
    ["another status", HEAD.replace("200", "503")],
    ["another media type", HEAD.replace("event-stream", "plain")],
  ])("refuses %s", (_name, head) => {
    expect(() => readAll(`${head}\r\n`, 1_000)).toThrow("expected a stream of events");
  });
});

describe("the check of an event", () => {
  it("accepts its fields in any order, with or without the space", () => {
    const { id, event, data } = eventOf(7);
    expect(faultOfEvent(`data:${data}\nid:${id}\nevent: ${event}`, 7)).toBeNull();
  });

  it.each([
    ["the event before", eventOf(6)],
    ["other data", { ...eventOf(7), data: "{}" }],
    ["another name", { ...eventOf(7), event: "message" }],
  ])("refuses %s", (_name, event) => {
    expect(faultOfEvent(toText(event).trimEnd(), 7)).toContain("expected event 7");
  });
});

describe("Feed", () => {
  it("begins each stream with event 0 and gives it all later ones in order", async () => {
    const feed = new Feed();
    const events = feed.follow();
    expect(await events.next()).toEqual({ done: false, value: eventOf(0) });
    feed.publish();
    feed.publish();
    expect(await events.next()).toEqual({ done: false, value: eventOf(1) });
    expect(await events.next()).toEqual({ done: false, value: eventOf(2) });
  });

  it("gives nothing more to a listener that has left", () => {
    const feed = new Feed();
    const ids: string[] = [];
    const leave = feed.subscribe(({ id }) => ids.push(id));
    feed.publish();
    leave();
    feed.publish();
    expect(ids).toEqual(["0", "1"]);
  });
});
