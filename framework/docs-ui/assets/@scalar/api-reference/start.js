"use strict";
// The page sends no requests outside the application: fonts, Scalar's proxy, reports and agents are disabled.
Scalar.createApiReference("#scalar", {
  url: new URL(document.getElementById("scalar").dataset.url, document.baseURI).href,
  withDefaultFonts: false,
  proxyUrl: "",
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
});
