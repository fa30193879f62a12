/*
 * Sets the theme before anything is painted, so that no page flashes in the wrong one. A classic script, because a module would come too
 * late, and a file, because the policy forbids inline scripts. Afterwards the app keeps both attributes in step with the preference.
 */
(function () {
  var choice = null;
  try {
    choice = JSON.parse(localStorage.getItem('alcove.theme') || 'null');
  } catch (_) {
    /* Storage is closed to this page: the system's theme holds. */
  }
  var systemDark = matchMedia('(prefers-color-scheme: dark)').matches;
  var named = choice === 'dark' || choice === 'light';
  var root = document.documentElement;
  root.dataset.theme = named ? choice : systemDark ? 'dark' : 'light';
  if (choice === 'contrast' || (!named && matchMedia('(prefers-contrast: more)').matches))
    root.dataset.contrast = 'more';
})();
