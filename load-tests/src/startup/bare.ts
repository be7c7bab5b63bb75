/** A program that does nothing: what Node itself takes to start and end. @module */
process.exitCode = 0;
