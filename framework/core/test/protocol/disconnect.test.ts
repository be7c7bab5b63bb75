/** Clients that disconnect, on every driver. @module */
import { disconnectStatements } from "./_disconnect-statements.js";
import { drivers } from "./_drivers.js";
import { describeStatements } from "./_statement.js";

describeStatements(disconnectStatements, drivers);
