"use strict";
// No request leaves the application: neither for fonts nor through Scalar's proxy, and nothing is reported or asked of an agent.
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
