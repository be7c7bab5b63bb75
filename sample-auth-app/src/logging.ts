import { destination, pino, stdTimeFunctions, type DestinationStream, type Logger } from "pino";

/** The application's log: pino, which the framework takes for its own as well. */
export type Log = Logger;

/**
 * Writes one JSON object a line, which keeps CR and LF of what clients send inside their strings.
 *
 * @param stream takes the lines; by default stderr, each line before the call returns
 */
export function createLog(stream: DestinationStream = destination({ dest: 2, sync: true })): Log {
  return pino(
    {
      base: null,
      messageKey: "message",
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Not pino's own, which also writes whatever fields an error has: Prisma's may hold the values of a query.
      serializers: { err: describe },
    },
    stream,
  );
}

function describe(error: unknown): unknown {
  if (!(error instanceof Error)) {
    return error;
  }
  const { name, message, stack, cause } = error;
  return { name, message, stack, ...(cause === undefined ? {} : { cause: describe(cause) }) };
}
