/* The description of the API: Swagger UI, which comes as a global of a plain script. */

const UNCHANGING = ["GET", "HEAD", "OPTIONS"];
const frame = document.getElementById("api");
const dark = matchMedia("(prefers-color-scheme: dark)");

/** Swagger UI has a dark look, which a class asks for. */
function followScheme() {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
}

/** The session alone changes nothing: the form's secret must come with it. */
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
  // Else each answer would be coloured, which takes seconds of a long one.
  syntaxHighlight: { activated: false },
  requestInterceptor: addSecret,
});
