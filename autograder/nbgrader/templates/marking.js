// Formgrader waits for MathJax to end before it selects the first field. Formulas are typeset
// already when this page arrives, so here it has ended.
window.MathJax = {
  Hub: {Startup: {signal: {Interest: function (told) { told("End"); }}}}
};

// "Write this" below a typical wrong answer adds its comment to the field, which saves itself.
document.addEventListener("click", function (event) {
  var button = event.target.closest && event.target.closest(".use-comment");
  if (!button) { return; }
  var field = document.getElementById(button.closest(".guide").dataset.for);
  field.value = (field.value.trim() + "\n\n" + button.dataset.comment).trim();
  $(field).trigger("change");
  field.dispatchEvent(new Event("autosize:update"));
  field.focus();
});
// Formgrader takes Enter and the arrows for itself; in a guide they open, press and scroll.
document.addEventListener("keydown", function (event) {
  if (event.target.closest && event.target.closest(".guide")) { event.stopPropagation(); }
}, true);
