/** Rooms to talk in, over WebSockets. @module */
import {
  type AcceptOptions,
  BackgroundTasks,
  Depends,
  type DependencyOverrides,
  HTTPException,
  type MessageSchemas,
  Path,
  Query,
  Router,
  type Static,
  t,
  type TypedWebSocket,
  WebSocket,
  WebSocketException,
  withParams,
} from "tsgi";
import { badge, getMember, notesVisit, ticket } from "../auth.js";
import { library } from "../library.js";
import { Kind } from "../models.js";

const Asked = t.Object({
  text: t.String({ maxLength: 20 }),
  times: t.Integer({ default: 1 }),
  at: t.Optional(t.Date()),
});
const Said = t.Object({ room: t.String(), by: t.String(), text: t.String(), kind: t.Optional(Kind) });

type Room = TypedWebSocket<Static<typeof Asked>, Static<typeof Said>>;

const messages: MessageSchemas<typeof Asked, typeof Said> = { receives: Asked, sends: Said };

/** Notes when the last message is out. */
const present = withParams({ ws: WebSocket, room: Path(), library }, async function* ({ ws, room, library }) {
  try {
    yield ws.path;
  } catch (error) {
    library.note(room, error instanceof WebSocketException ? `closed with ${error.code}` : String(error));
    throw error;
  } finally {
    library.note(room, "left");
  }
});

export const router = new Router({ prefix: "/rooms", tags: ["rooms"], dependencies: [Depends(notesVisit)] });

async function say(ws: Room, room: string, by: string, { text, times }: Static<typeof Asked>): Promise<void> {
  for (let n = 0; n < times; n++) await ws.sendJson({ room, by, text });
}

export const talk = router.websocket(
  "/{room}",
  {
    params: {
      by: Depends(ticket),
      greeting: Query({ default: "" }),
      path: Depends(present),
      tasks: BackgroundTasks,
      library,
    },
    ...messages,
    summary: "Talk in a room",
  },
  async ({ ws, room, by, greeting, tasks, library }) => {
    const name = by ?? "somebody";
    tasks.addTask(() => library.note(room, `${name} was told good-bye`));
    await ws.accept();
    if (greeting !== "") await ws.sendJson({ room, by: "the room", text: greeting });
    for await (const asked of ws) {
      if (asked.text === "bye") return ws.close(4000, "bye");
      if (asked.text === "fail") throw new Error("a secret of the room");
      await say(ws, room, name, asked);
    }
  },
);

/** Echoes texts and bytes, in the protocol that the client prefers. */
export const echo = router.websocket("/{room}/echo", async ({ ws, room }) => {
  const [subprotocol] = ws.subprotocols;
  const options: AcceptOptions = { headers: { "x-room": room }, ...(subprotocol !== undefined && { subprotocol }) };
  await ws.accept(options);
  for await (const message of ws) {
    if (message === "return") return;
    await ws.send(message);
  }
});

export const members = router.websocket(
  "/{room}/members",
  { params: { member: Depends(getMember) } },
  async ({ ws, member }) => {
    await ws.accept();
    await ws.sendText(member.name);
    await ws.sendBytes(new TextEncoder().encode(await ws.receiveText()));
  },
);

export const badges = router.websocket(
  "/{room}/badges/{n}",
  { params: { n: t.Integer({ maximum: 9 }), badge: Depends(badge) } },
  async ({ ws, n, badge }) => {
    await ws.accept();
    await ws.sendJson({ n, badge, cookies: Object.keys(ws.cookies), scheme: ws.url.protocol });
    await ws.close();
  },
);

export const full = router.websocket("/{room}/full", async () => {
  throw new HTTPException(403, "The room is full", { headers: { "x-room": "full" } });
});

export const locked = router.websocket("/{room}/locked", async ({ ws }) => ws.close(4403, "locked"));

/** Those that a test has replaced. */
export const replaced = (overrides: DependencyOverrides) => overrides.size;
