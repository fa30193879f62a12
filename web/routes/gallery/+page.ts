/** The gallery is a tool of those who make the app: there is no such place in what is shipped. */
import { error } from '@sveltejs/kit';

// Vite's own flag, not kit's: only what it replaces before bundling keeps the samples out of the build.
const find = import.meta.env.DEV ? () => import('../../lib/components/views/Gallery.svelte') : null;

export async function load() {
  if (find === null) error(404, 'There is nothing at this address.');
  return { Gallery: (await find()).default };
}
