/* The API documentation: Swagger UI, which a classic script loads as a global. */

const UNCHANGING = ["GET", "HEAD", "OPTIONS"];
const frame = document.getElementById("api");
const dark = matchMedia("(prefers-color-scheme: dark)");

/** Swagger UI has a dark theme, enabled by a class. */
function followScheme() {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
}

/** Requests that change data need the CSRF token in addition to the session. */
function addSecret(request) {
  if (!frame.dataset.csrf) return request;
  const isOurs = new URL(request.url, location.href).origin === location.origin;
  if (isOurs && !UNCHANGING.includes((request.method ?? "GET").toUpperCase())) {
    request.headers["X-CSRFToken"] = frame.dataset.csrf;
  }
  return request;
}

followScheme();
dark.addEventListener("change", followScheme);
window.SwaggerUIBundle({
  url: frame.dataset.schema,
  domNode: frame,
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  tryItOutEnabled: true,
  // Highlighting a long response would take seconds.
  syntaxHighlight: { activated: false },
  requestInterceptor: addSecret,
});
