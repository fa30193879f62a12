/** The gallery is a tool of those who make the app: there is no such place in what is shipped. */
import { dev } from '$app/environment';
import { error } from '@sveltejs/kit';

const find = dev ? () => import('../../lib/components/views/Gallery.svelte') : null;

export async function load() {
  if (find === null) error(404, 'There is nothing at this address.');
  return { Gallery: (await find()).default };
}
