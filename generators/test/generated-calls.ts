/** Each sub-generator of every project once, some twice: the second time in a file that the first has changed. */
export const calls = [
  ["router", "orders"],
  ["router", "order-lines"],
  ["router", "v1/files"],
  ["route", "GET /orders/{order_id}/lines"],
  ["route", "POST", "/orders/{order_id}/lines"],
  ["route", "PUT /settings/{name}"],
  ["route", "PATCH /{body}/x"],
  ["route", "DELETE /items/{item_id}/parts"],
  ["route", "DELETE /everything"],
  ["dependency", "tenant"],
  ["dependency", "currentLocale"],
  ["middleware", "timing"],
  ["middleware", "other-timing"],
  ["websocket", "/rooms/{room}"],
  ["websocket", "/orders/live"],
] as const;

const fieldsOfNote =
  "title:String body:String? pinned:Boolean dueAt:DateTime? count:Int price:Float on:DateTime slug:String@unique " +
  "code:Int?@unique";

/** Those of a project with a database: a model refers to another one, and routes are in the router of a model. */
export const callsWithModels: readonly (readonly string[])[] = [
  ...calls,
  ["model", "Note", ...fieldsOfNote.split(" ")],
  ["model", "BlogCategory"],
  ["model", "ApiKey"],
  ["model", "Account", "date:DateTime", "count:Int"],
  ["route", "GET /notes/{note_id}/history"],
  ["route", "POST /notes/{account}/parts"],
  ["websocket", "/notes/live"],
  ["websocket", "/items/changes"],
];
