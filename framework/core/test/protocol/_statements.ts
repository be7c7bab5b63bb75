/** The table: every statement of the protocol. @module */
import { closeStatements } from "./_close-statements.js";
import { disconnectStatements } from "./_disconnect-statements.js";
import { drainStatements } from "./_drain-statements.js";
import { handshakeStatements } from "./_handshake-statements.js";
import { messageStatements } from "./_message-statements.js";
import { requestStatements } from "./_request-statements.js";
import { responseStatements } from "./_response-statements.js";
import type { Statement } from "./_statement.js";

export const statements: readonly Statement[] = [
  ...requestStatements,
  ...responseStatements,
  ...disconnectStatements,
  ...handshakeStatements,
  ...messageStatements,
  ...closeStatements,
  ...drainStatements,
];
