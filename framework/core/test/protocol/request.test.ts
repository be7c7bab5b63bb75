/** Requests, on every driver. @module */
import { drivers } from "./_drivers.js";
import { requestStatements } from "./_request-statements.js";
import { describeStatements } from "./_statement.js";

describeStatements(requestStatements, drivers);
