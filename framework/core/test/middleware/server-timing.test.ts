import { expect, it } from "@jest/globals";
import { App, Depends, t } from "../../src/index.js";
import { serverTiming } from "../../src/middleware/index.js";
import { describeMatrix } from "../../../test/support/matrix.js";

describeMatrix("serverTiming", ({ call }) => {
  it("lists the steps up to the head of the response, and keeps the entries of the application", async () => {
    const app = new App({ instrumentation: serverTiming() });
    const getUser = async () => "ada";
    const params = { n: t.Integer({ default: 1 }), user: Depends(getUser) };
    app.get("/", { params }, async function read() {
      return 1;
    });
    const { headers } = await call(app, "GET", "/");
    const dur = String.raw`dur=\d+(\.\d{1,3})?`;
    expect(headers["server-timing"]).toMatch(
      new RegExp(
        `^validation;desc="read";${dur}, dependency;desc="getUser";${dur}, handler;desc="read";${dur}, ` +
          `serialization;desc="read";${dur}, total;${dur}$`,
      ),
    );
  });

  it("writes names that no header can carry as a quoted string of ASCII, and fifty steps at most", async () => {
    const app = new App({ instrumentation: serverTiming() });
    const odd = () => 1;
    Object.defineProperty(odd, "name", { value: 'a"b\\c\r\né' });
    const many = Object.fromEntries(
      Array.from({ length: 80 }, (_, index) => [`d${index}`, Depends(() => odd(), { useCache: false })]),
    );
    app.get("/odd", { params: { odd: Depends(odd) } }, async () => 1);
    app.get("/many", { params: many }, async () => 1);
    expect((await call(app, "GET", "/odd")).headers["server-timing"]).toMatch(
      /^dependency;desc="a\\"b\\\\c\?\?\?";dur=/,
    );
    expect((await call(app, "GET", "/many")).headers["server-timing"]?.split(", ")).toHaveLength(51);
  });
});
