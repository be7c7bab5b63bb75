/** Handshakes of WebSockets, on every driver. @module */
import { drivers } from "./_drivers.js";
import { handshakeStatements } from "./_handshake-statements.js";
import { describeStatements } from "./_statement.js";

describeStatements(handshakeStatements, drivers);
