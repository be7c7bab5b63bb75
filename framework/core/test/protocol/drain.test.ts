/** Servers that stop, on every driver. @module */
import { drainStatements } from "./_drain-statements.js";
import { drivers } from "./_drivers.js";
import { describeStatements } from "./_statement.js";

describeStatements(drainStatements, drivers);
