/*
 * Sets the theme before anything is painted, so that no page flashes in the wrong one. A classic script, because a module would come too
 * late, and a file, because the policy forbids inline scripts. Afterwards the preferences of the app own both attributes.
 */
(function () {
  var choice = null;
  try {
    choice = localStorage.getItem('alcove.theme');
  } catch (_) {
    /* Storage is closed to this page: the system's theme holds. */
  }
  var dark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  if (matchMedia('(prefers-contrast: more)').matches) document.documentElement.dataset.contrast = 'more';
})();
