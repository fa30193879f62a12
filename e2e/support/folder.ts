/** Sample projects by name, each made anew in a temporary folder. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const samples = {
  /** A few notes; nothing to build and no repository. */
  garden: {
    'notes.md': '# Garden\n\nRoses\nFerns\nMoss\n',
    'seeds/list.txt': 'basil\nthyme\n',
    'AGENTS.md': 'Speak of plants by their common names.\n',
  },
  /** A file whose content would run, were it not shown as text. */
  hostile: {
    'README.md': '<img src=x onerror="document.title=\'owned\'">\n\n[click](javascript:document.title=1)\n',
    '<svg onload=alert(1)>.txt': 'a name that is markup\n',
  },
} as const satisfies Record<string, Record<string, string>>;

export type SampleName = keyof typeof samples;

export async function makeSample(name: SampleName, parent: string): Promise<string> {
  const folder = join(parent, name);
  for (const [path, text] of Object.entries(samples[name])) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}
