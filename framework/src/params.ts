/** The descriptors of parameters: where each comes from, and how its type reaches the handler. @module */
export * from "./params/annotation.js";
export { Body, BODY } from "./params/body.js";
export { type CredentialsFinder, FIND_CREDENTIALS, finderOf } from "./params/credentials.js";
export { Cookie } from "./params/cookie.js";
export * from "./params/depends.js";
export { File, FILE } from "./params/file.js";
export { Form } from "./params/form.js";
export { Header } from "./params/header.js";
export { ParamKind } from "./params/marker.js";
export type {
  BodyOptions,
  FileOptions,
  Marker,
  ParamFunction,
  PathMarker,
  Place,
  SchemaShape,
  SENT,
  SourceMarkerOf,
  SourceOptions,
  TextMarker,
} from "./params/marker.js";
export type { GlobalResponse, HandlerTakesOneObject } from "./params/type-errors.js";
export { Path, PATH } from "./params/path.js";
export { Query, QUERY } from "./params/query.js";
export {
  absenceOf,
  INVALID,
  type FormBody,
  type JSONBody,
  type Load,
  type LoadingParts,
  SourceMarker,
} from "./params/source.js";
