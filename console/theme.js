// Before the first paint: what was chosen on this machine.  Not a module, so
// that it runs at once.

try {
  document.documentElement.dataset.theme =
    localStorage.getItem('submission-theme') || 'system';
} catch {
  document.documentElement.dataset.theme = 'system';
}
