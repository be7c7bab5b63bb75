/** Responses, on every driver. @module */
import { drivers } from "./_drivers.js";
import { responseStatements } from "./_response-statements.js";
import { describeStatements } from "./_statement.js";

describeStatements(responseStatements, drivers);
