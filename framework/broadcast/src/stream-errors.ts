/** The errors of stream logs. @module */
import { HTTPException } from "tsgi";
import { FAILURE, type StreamFailure } from "tsgi/internals";

/**
 * The producer of a stream threw an error, its process ended, or its events were lost. In a route with `stream: "sse"`, the
 * client receives the event `error` with `{ detail }`.
 */
export class StreamFailedError extends Error implements StreamFailure {
  override readonly name = "StreamFailedError";
  readonly [FAILURE]: string;

  constructor(
    /** The id of the stream. */
    readonly id: string,
    detail: string,
  ) {
    super(`The stream ${JSON.stringify(id)} failed: ${detail}`);
    this[FAILURE] = detail;
  }
}

/** A stream with this id exists. */
export const alreadyStarted = () => new HTTPException(409, "A stream with this id exists");

/** The stream has another owner. */
export const notTheOwner = () => new HTTPException(403);

/** No stream has this id, or it has expired. */
export const unknownStream = () => new HTTPException(404, "No such stream");

/** The events after that one have been removed, because there are more than `maxEvents`. */
export const eventsRemoved = () => new HTTPException(410, "The events after this one have been removed");

/** The id of an event is not one of a stream log. */
export const invalidEventId = () => new HTTPException(400, "The last event id is not one of this stream");
