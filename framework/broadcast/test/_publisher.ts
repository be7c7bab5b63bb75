/** Publishes 100,000 messages per second for two seconds, and then until it is told to stop. */
import { connect } from "node:net";

const RATE_PER_MS = 100;
const LEAST = 200_000;
const TEXT = "x".repeat(100);
const CHANNEL = "tsgi:broadcast:flood";

const socket = connect(process.argv[2] ?? "");
socket.resume();
let isStopping = false;
process.on("message", () => (isStopping = true));

/** One command of the protocol of Redis. */
function command(number: number): string {
  const message = JSON.stringify({ number, text: TEXT });
  return `*3\r\n$7\r\nPUBLISH\r\n$${CHANNEL.length}\r\n${CHANNEL}\r\n$${message.length}\r\n${message}\r\n`;
}

const startedAt = performance.now();
let sent = 0;
const timer = setInterval(() => {
  const due = Math.floor((performance.now() - startedAt) * RATE_PER_MS);
  let text = "";
  while (sent < due) text += command(++sent);
  socket.write(text);
  if (!isStopping || sent < LEAST) return;
  clearInterval(timer);
  socket.end(() => process.send?.(sent));
}, 10);
