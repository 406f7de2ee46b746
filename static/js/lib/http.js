// Requests with the CSRF token. They return a status and never throw; status 0 means no connection.

const PAUSE = 2000;

function csrfToken() {
  return document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
}

/** @returns {Promise<{status: number, body: any}>} */
async function send(method, url, body) {
  const isForm = body instanceof FormData;
  const headers = { "X-CSRFToken": csrfToken(), Accept: "application/json" };
  if (body !== undefined && !isForm) headers["Content-Type"] = "application/json";
  try {
    const response = await fetch(url, {
      method,
      headers,
      body: isForm || body === undefined ? body : JSON.stringify(body),
      credentials: "same-origin",
    });
    const isJson = response.headers.get("Content-Type")?.includes("json");
    return { status: response.status, body: isJson ? await response.json() : null };
  } catch {
    return { status: 0, body: null };
  }
}

export const get = (url) => send("GET", url);

/** Retries until there is a connection and the server has no error. */
export async function getInTheEnd(url) {
  for (;;) {
    const answer = await get(url);
    if (answer.status !== 0 && answer.status < 500) return answer;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

export const put = (url, body) => send("PUT", url, body);
export const post = (url, body) => send("POST", url, body);
export const patch = (url, body) => send("PATCH", url, body);
export const remove = (url) => send("DELETE", url);

/** The error message of a response. @param {{status: number, body: any}} answer */
export function reasonOf({ status, body }) {
  if (status === 0) return "There is no connection.";
  const first = body?.errors?.[0]?.message ?? body?.message ?? body?.detail;
  return first ?? `The server answered with status ${status}.`;
}
