/** The requests of `load-tests/run.js`, one kind after the other. */
export const requests = [
  { path: "/health" },
  {
    method: "POST",
    path: "/items",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Pen", price: 1.5 }),
  },
  { path: "/items?limit=20" },
  { path: "/items/1" },
];
