// JSON requests with the CSRF token. They answer with a status and never throw; status 0 is no connection.

function csrfToken() {
  return document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
}

async function send(method, url, body) {
  try {
    const response = await fetch(url, {
      method,
      headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
      body: JSON.stringify(body),
      credentials: "same-origin",
    });
    const isJson = response.headers.get("Content-Type")?.includes("json");
    return { status: response.status, body: isJson ? await response.json() : null };
  } catch {
    return { status: 0, body: null };
  }
}

export const put = (url, body) => send("PUT", url, body);
export const post = (url, body) => send("POST", url, body);
