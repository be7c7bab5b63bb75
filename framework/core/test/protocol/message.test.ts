/** Messages of WebSockets, on every driver. @module */
import { messageStatements } from "./_message-statements.js";
import { drivers } from "./_drivers.js";
import { describeStatements } from "./_statement.js";

describeStatements(messageStatements, drivers);
