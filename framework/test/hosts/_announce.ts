/** Code before a program, which prints the port of each server that listens. */
export const ANNOUNCE = `
import { Server as TheServer } from "node:net";
const emitOfServer = TheServer.prototype.emit;
TheServer.prototype.emit = function (event, ...rest) {
  if (event === "listening") console.log("port", this.address().port);
  return emitOfServer.call(this, event, ...rest);
};
`;
