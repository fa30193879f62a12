/*
 * Sets theme, text size and motion before anything is painted, so that no page flashes in the wrong ones. A classic script, because a module would come too
 * late, and a file, because the policy forbids inline scripts. Afterwards the app keeps the attributes in step with the preferences.
 */
(function () {
  var choice = null;
  var kept = null;
  try {
    choice = JSON.parse(localStorage.getItem('alcove.theme') || 'null');
    kept = JSON.parse(localStorage.getItem('alcove.preferences') || 'null');
  } catch (_) {
    /* Storage is closed to this page: the system's theme holds. */
  }
  var systemDark = matchMedia('(prefers-color-scheme: dark)').matches;
  var named = choice === 'dark' || choice === 'light';
  var root = document.documentElement;
  root.dataset.theme = named ? choice : systemDark ? 'dark' : 'light';
  if (choice === 'contrast' || (!named && matchMedia('(prefers-contrast: more)').matches))
    root.dataset.contrast = 'more';
  if (kept && /^(small|large|larger)$/.test(kept.textSize)) root.dataset.textSize = kept.textSize;
  if (kept && kept.motion === 'less') root.dataset.motion = 'less';
})();
