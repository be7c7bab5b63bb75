/** Photos of tools, up and down. @module */
import {
  Depends,
  File,
  type FileOptions,
  Form,
  FormData as UploadedForm,
  type FormValue,
  HTMLResponse,
  Request,
  Response as OwnResponse,
  Router,
  t,
  UploadFile,
  type UploadFileOptions,
  withParams,
} from "tsgi";
import { bearer, deskKey } from "../auth.js";
import { library } from "../library.js";
import { smallBodies, unzipped, zipped } from "../middleware.js";

const picture: FileOptions = { description: "The picture.", mediaTypes: ["image/png", "image/jpeg"] };
const options: UploadFileOptions = { filename: "none.png", contentType: "image/png" };

export const router = new Router({ prefix: "/photos", tags: ["photos"] });

export const addPhoto = router.post(
  "",
  {
    params: {
      title: Form(t.String({ minLength: 1 })),
      stars: Form(t.Integer({ minimum: 1 }), { default: 1 }),
      photo: File(picture),
      others: File({ multiple: true, default: [] }),
      token: Depends(bearer),
    },
    returns: t.Object({ title: t.String(), stars: t.Integer(), bytes: t.Array(t.Integer()), type: t.String() }),
    statusCode: 201,
  },
  async ({ title, stars, photo, others }) => {
    const sizes = [photo, ...others].map(({ size }) => size);
    return { title, stars, bytes: sizes, type: photo.contentType };
  },
);

/** Gives back the file that it was given, with its name. */
export const turnPhoto = router.post("/turned", { params: { photo: UploadFile } }, async ({ photo }) => {
  const content = (await photo.read()).toReversed();
  const { filename } = photo;
  return new OwnResponse(content, {
    mediaType: photo.contentType,
    headers: { "content-disposition": `attachment; filename="turned-${filename}"` },
  });
});

export const contact = router.post(
  "/contact",
  {
    params: { form: Form(t.Object({ name: t.String(), answers: t.Array(t.Integer()), note: t.Optional(t.String()) })) },
  },
  async ({ form }) => form,
);

/** The form as a whole, field by field, and what is left of it without its files. */
export const fields = router.post("/fields", { params: { request: Request } }, async ({ request }) => {
  const form = await request.form();
  const nameOf = (value: FormValue) => (typeof value === "string" ? value : `${value.filename} of ${value.size}`);
  const texts = new UploadedForm([...form].filter(([, value]) => typeof value === "string"));
  return { all: [...form].map(([name, value]) => [name, nameOf(value)]), texts: texts.getAll("a") };
});

/** Counts what arrives, part by part, within the limit of a middleware. */
export const measure = router.post(
  "/measured",
  { params: { request: Request, key: Depends(deskKey) }, middleware: [smallBodies, unzipped] },
  async ({ request }) => {
    let bytes = 0;
    for await (const part of request.stream()) bytes += part.length;
    return { bytes };
  },
);

/** The same stream back. */
export const echo = router.post("/echo", { params: { request: Request } }, async ({ request }) => {
  const { body, headers } = request.toWeb();
  return new Response(body, { headers: { "content-type": headers.get("content-type") ?? "application/octet-stream" } });
});

const readCover = withParams({ library }, async ({ library }) => {
  return new UploadFile(Uint8Array.from(library.tools.keys()), options);
});

export const cover = router.get("/cover", { params: { cover: Depends(readCover) } }, async ({ cover }) => {
  return new OwnResponse(await cover.read(), { mediaType: cover.contentType });
});

export const page = router.get("/page", { middleware: [zipped] }, async () => {
  return new HTMLResponse(`<h1>Photos</h1>${"<img>".repeat(100)}`);
});
