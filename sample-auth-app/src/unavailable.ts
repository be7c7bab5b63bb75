/** What it takes to answer is not to be had in time, or there is too much to do; who asked may ask again. */
export class UnavailableError extends Error {
  override name = "UnavailableError";
}
