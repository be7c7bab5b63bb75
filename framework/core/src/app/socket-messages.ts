/** The schemas of a WebSocket's messages: `receives` and `sends`. @module */
import { type Fault, RequestValidationError, ResponseValidationError } from "../common/exceptions.js";
import type { Logger } from "../common/logger.js";
import type { MessageSchemas } from "../routing/options.js";
import { compileReturns, compileSchema, type Schema } from "../schema/schema.js";
import { Faults } from "../schema/faults.js";
import type { MessageRules } from "../http/websocket.js";

/** Faults without what was received or sent, which may be secret and goes to a log. */
function withoutInput(faults: Faults): Fault[] {
  return faults.forClient().map(({ type, loc, msg }) => ({ type, loc, msg }));
}

function compileReceive(schema: Schema, path: string, logger: Logger): NonNullable<MessageRules["receive"]> {
  const { check } = compileSchema(schema);
  const refuse = (errors: readonly Fault[], why: string): null => {
    logger.warn({ path, errors }, `WEBSOCKET ${path}: a message does not fit \`receives\`: ${why}`);
    return null;
  };
  return async (parse) => {
    let message: unknown;
    try {
      message = parse();
    } catch {
      return refuse([], "it is not JSON");
    }
    const faults = new Faults();
    const value: unknown = await check(message, faults);
    if (faults.count === 0) return { value };
    const errors = withoutInput(faults);
    return refuse(errors, new RequestValidationError(errors).message);
  };
}

function compileSend(schema: Schema): NonNullable<MessageRules["send"]> {
  const write = compileReturns(schema);
  return async (message) => {
    const faults = new Faults();
    const text = await write(message === undefined ? null : message, faults);
    if (faults.count === 0 && text !== undefined) return text;
    throw new ResponseValidationError(withoutInput(faults), "The message does not fit `sends`");
  };
}

/**
 * Compiles the schemas of a WebSocket's messages.
 *
 * @throws ConfigurationError for what is not a schema, or cannot describe what is sent.
 */
export function compileMessages({ receives, sends }: MessageSchemas, path: string, logger: Logger): MessageRules {
  return {
    receive: receives === undefined ? null : compileReceive(receives, path, logger),
    send: sends === undefined ? null : compileSend(sends),
  };
}
