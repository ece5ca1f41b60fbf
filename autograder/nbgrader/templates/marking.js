// Formgrader waits for MathJax to end before it selects the first field. Formulas are typeset
// already when this page arrives, so here it has ended.
window.MathJax = {
  Hub: {Startup: {signal: {Interest: function (told) { told("End"); }}}}
};
