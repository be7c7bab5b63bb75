/** Responses. @module */
export { listsTag } from "./response/conditions.js";
export { type CookieOptions, serializeCookie } from "./response/cookies.js";
export {
  event,
  EventSourceResponse,
  type EventSourceOptions,
  isMarkedEvent,
  isServerSentEvent,
  lastEventId,
  type MarkedEvent,
  type Notice,
  type ServerSentEvent,
} from "./response/event-source.js";
export { contentTypeOf, FileResponse, type FileResponseOptions } from "./response/file.js";
export { fileKind } from "./response/open-file.js";
export { addVary, FROM_LIST, GET_LIST, type HeadersInit, ResponseHeaders } from "./response/headers.js";
export { HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse } from "./response/kinds.js";
export { claim } from "./response/pull.js";
export { EMPTY, PREPARE, Response, type ResponseOptions, type Sender, sendWhole } from "./response/response.js";
export { fromWebResponse, isWebResponse } from "./response/web.js";
export { isIterable, type StreamContent, StreamingResponse } from "./response/streaming.js";
