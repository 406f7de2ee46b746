// Shows responses with an error status in the form, and the progress of the upload.

const SHOWN_STATUSES = new Set([400, 409, 413, 422]);
const form = document.querySelector("form[data-upload]");
const bar = form?.querySelector("progress.upload");

form?.addEventListener("htmx:beforeSwap", (event) => {
  if (!SHOWN_STATUSES.has(event.detail.xhr.status)) return;
  event.detail.shouldSwap = true;
  event.detail.isError = false;
});

form?.addEventListener("htmx:xhr:progress", (event) => {
  if (!event.detail.lengthComputable) return;
  bar.hidden = false;
  bar.value = (100 * event.detail.loaded) / event.detail.total;
});

form?.addEventListener("htmx:afterRequest", () => {
  bar.hidden = true;
});

form?.addEventListener("htmx:sendError", () => {
  const notice = document.createElement("p");
  notice.className = "notice error";
  notice.setAttribute("role", "alert");
  notice.textContent = "The connection failed. Nothing was submitted. Try again.";
  document.getElementById("outcome").replaceChildren(notice);
});
