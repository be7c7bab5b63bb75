"use strict";
const root = document.getElementById("redoc");
// Without `sanitize`, ReDoc runs the markup of descriptions: a `<meta http-equiv="refresh">` leads to another page.
Redoc.init(root.dataset.url, { sanitize: true }, root);
