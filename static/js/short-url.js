// Leaves empty fields out of the URL of GET forms: <form data-short-url>.

for (const form of document.querySelectorAll("form[data-short-url]")) {
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) {
      if (value === "") formData.delete(name);
    }
  });
}
