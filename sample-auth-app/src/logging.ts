import { destination, pino, stdSerializers, stdTimeFunctions, type DestinationStream, type LoggerOptions } from "pino";
import { Depends, HTTPConnection, withParams } from "tsgi";
import { logContext } from "tsgi/middleware";

/** Puts the ids, the route and the time of its request into each line. */
export const requestContext = logContext();

/** Writes one JSON object a line to stderr, each before the call returns. CR and LF of clients stay inside their strings. */
export function createLog(stream: DestinationStream = destination({ dest: 2, sync: true })) {
  const options: LoggerOptions = {
    base: null,
    messageKey: "message",
    mixin: requestContext.fields,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describe },
  };
  return pino(options, stream);
}

export const log = createLog();
export const openLog = async () => log;
export const logger = Depends(openLog, { scope: "app" });

/** The log, with the client's address on each line. */
export const getLog = withParams({ logger, connection: HTTPConnection }, async ({ logger, connection }) =>
  logger.child({ address: connection.client?.host }),
);

/** Leaves out the other fields of an error: Prisma's may contain the values of a query. The stack includes the causes. */
function describe(error: Error) {
  const { type, message, stack } = stdSerializers.err(error);
  return { type, message, stack };
}
