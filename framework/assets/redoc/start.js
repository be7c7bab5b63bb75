"use strict";
const root = document.getElementById("redoc");
Redoc.init(root.dataset.url, {}, root);
