// Forms that ask by GET: <form data-short-url>. What is empty is left out of the address.

for (const form of document.querySelectorAll("form[data-short-url]")) {
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) {
      if (value === "") formData.delete(name);
    }
  });
}
