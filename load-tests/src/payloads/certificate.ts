/** A certificate of the run's own. @module */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** The files of a key and a certificate, as variables of a server's process. */
export interface Certificate extends AsyncDisposable {
  readonly environment: { readonly TLS_KEY: string; readonly TLS_CERT: string };
}

/** Signs a certificate for localhost by itself. `null` without `openssl`. */
export async function createCertificate(): Promise<Certificate | null> {
  const folder = await mkdtemp(join(tmpdir(), "tsgi-bench-tls-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const args = ["req", "-x509", ...kind, "-days", "2", "-subj", "/CN=localhost", "-keyout", key, "-out", cert];
  try {
    await promisify(execFile)("openssl", args);
  } catch {
    await remove();
    return null;
  }
  return { environment: { TLS_KEY: key, TLS_CERT: cert }, [Symbol.asyncDispose]: remove };
}
