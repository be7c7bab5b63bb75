import type supertest from "supertest";

/** Whether an import failed because the package itself is not there, and not for what it imports or does. */
function isMissing(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return /^(?:ERR_)?MODULE_NOT_FOUND$/.test(String(code)) && /'supertest'/.test(String(message));
}

/**
 * Loads supertest on use: an application that is not under test does without it.
 *
 * @throws Error that says what to install, where it is missing.
 */
export async function loadSupertest(): Promise<typeof supertest> {
  try {
    const { default: loaded } = await import("supertest");
    return loaded;
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new Error(
      "TestClient needs supertest, which is not installed. Run: npm install --save-dev supertest @types/supertest",
      { cause: error },
    );
  }
}
