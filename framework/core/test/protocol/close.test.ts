/** The end of WebSockets, on every driver. @module */
import { closeStatements } from "./_close-statements.js";
import { drivers } from "./_drivers.js";
import { describeStatements } from "./_statement.js";

describeStatements(closeStatements, drivers);
