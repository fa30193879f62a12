/** The icon of each kind of tool call. The kind comes from the tool's own display, so no screen knows a tool by name. */
import FilePen from '@lucide/svelte/icons/file-pen';
import FileText from '@lucide/svelte/icons/file-text';
import Search from '@lucide/svelte/icons/search';
import Terminal from '@lucide/svelte/icons/terminal';
import Wrench from '@lucide/svelte/icons/wrench';
import type { CallDisplay } from '#protocol/values/display.ts';

export const kindIcons: Record<CallDisplay['kind'], typeof Wrench> = {
  read: FileText,
  search: Search,
  edit: FilePen,
  command: Terminal,
  other: Wrench,
};
