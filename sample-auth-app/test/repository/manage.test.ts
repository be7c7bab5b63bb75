import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "@jest/globals";

import { openApp } from "./support.js";
import { SECRET_KEY } from "./support/constants.js";

const PROGRAM = path.join(import.meta.dirname, "../../dist/manage.js");

/** Runs the command while the application runs; returns its status and its output. */
async function manage(databaseUrl: string, ...words: string[]) {
  const env = { PATH: process.env["PATH"], NODE_ENV: "test", DATABASE_URL: databaseUrl, SECRET_KEY };
  try {
    return { status: 0, ...(await promisify(execFile)(process.execPath, [PROGRAM, ...words], { env })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }; // what execFile rejects with
    return { status: code, stdout, stderr };
  }
}

describe("the command for users", () => {
  it("disables a user while the application runs, and enabling brings no session and no token back", async () => {
    await using app = await openApp();
    await app.register();
    const { token, cookie } = await app.login();
    const me = () => app.request.get("/users/me").auth(token, { type: "bearer" });
    expect(await manage(app.databaseUrl, "disable", "alice")).toEqual({
      status: 0,
      stdout: "alice is disabled, all sessions have ended\n",
      stderr: "",
    });
    await me().expect(401);
    expect(await manage(app.databaseUrl, "enable", "alice")).toMatchObject({ status: 0 });
    await me().expect(401);
    await app.request.post("/auth/refresh").set("Cookie", cookie).expect(401);
  });
});
