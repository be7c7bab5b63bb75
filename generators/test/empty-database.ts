import { hasProgram, run } from "./support.js";

/** An empty database on the PostgreSQL of this machine, dropped at the end of the block. The URL is `null` without a server. */
export async function emptyDatabase(): Promise<{ url: string | null } & AsyncDisposable> {
  const name = `create_tsgi_${process.pid}_${Date.now()}`;
  const admin = (statement: string) =>
    run("psql", ["--host=127.0.0.1", "--username=postgres", "--command", statement], { cwd: "/" });
  const made = hasProgram("psql") && (await admin(`CREATE DATABASE ${name}`)).status === 0;
  return {
    url: made ? `postgresql://postgres@127.0.0.1:5432/${name}` : null,
    [Symbol.asyncDispose]: async () => {
      if (made) {
        await admin(`DROP DATABASE ${name} WITH (FORCE)`);
        await admin(`DROP DATABASE IF EXISTS ${name}_template`); // of a sandbox
      }
    },
  };
}
