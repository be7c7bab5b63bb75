"use strict";
const { url, assets } = document.getElementById("swagger-ui").dataset;
window.ui = SwaggerUIBundle({
  url,
  dom_id: "#swagger-ui",
  deepLinking: true,
  oauth2RedirectUrl: new URL(assets + "/oauth2-redirect.html", document.baseURI).href,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  validatorUrl: null,
});
// RFC 9700 §2.1.1: public clients use PKCE.
window.ui.initOAuth({ usePkceWithAuthorizationCodeGrant: true });
