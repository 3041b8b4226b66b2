const field = document.getElementById("find");
field.hidden = false;
field.addEventListener("input", () => {
  const wanted = field.value.toLowerCase();
  for (const row of document.querySelectorAll("#matrix tbody tr")) {
    row.hidden = !row.dataset.op.includes(wanted);
  }
});
