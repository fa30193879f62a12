/** How a person installs the app in the browser at hand: one short sentence, as that browser names its menus. */
export function installGuide(userAgent: string): string {
  // iPads say that they are Macs, but have a touch screen; Safari's menu has both names there.
  if (/iPhone|iPad|iPod/.test(userAgent)) return 'In the browser’s Share menu, choose “Add to Home Screen”.';
  if (/Android/.test(userAgent))
    return /Firefox/.test(userAgent)
      ? 'In the browser’s menu ⋮, choose “Add app to Home screen”.'
      : 'In the browser’s menu ⋮, choose “Install app” or “Add to Home screen”.';
  if (/Firefox/.test(userAgent))
    return 'Firefox installs no apps on a computer. Pin this tab, or open the address in Chrome, Edge or Safari.';
  if (/Edg\//.test(userAgent)) return 'In the browser’s menu …, under “Apps”, choose “Install Alcove”.';
  if (/Chrome|Chromium/.test(userAgent))
    return 'At the right end of the address bar, press the install sign; or in the menu ⋮ choose “Install Alcove”.';
  if (/Safari/.test(userAgent)) return 'In the File menu, or the Share menu, choose “Add to Dock”.';
  return 'Look in the browser’s menu for “Install” or “Add to Home screen”.';
}
