/**
 * The folders that sessions work in. Removing one hides it and its sessions; files and logs are untouched, and adding it again (or undoing)
 * brings everything back under the same id.
 */
import { realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, resolve } from 'node:path';
import { RequestError } from '#protocol/errors.ts';
import { z } from '#protocol/schema.ts';
import type { ProjectId } from '#protocol/values/ids.ts';
import { project as projectSchema, type Project } from '#protocol/values/project.ts';
import type { Clock } from '../../base/clock.ts';
import { expandHome } from '../../base/files.ts';
import { newId, type Ids } from '../../base/ids.ts';
import { Store, type OpenedStore } from '../../base/store.ts';

const kept = z.extend(projectSchema, { removedAt: z.nullable(z.number()) });
const document = z.object({ projects: z.array(kept) });
type Document = z.infer<typeof document>;

export interface ProjectsOptions {
  path: string;
  clock: Clock;
  ids: Ids;
  /** The person's home folder, for `~/…`. */
  userHome: string;
  /** A folder that no project may be, or be in: Alcove's own home. */
  forbidden: string;
  changed(): void;
}

export class Projects {
  readonly #options: ProjectsOptions;
  readonly #store: Store<Document>;

  private constructor(options: ProjectsOptions, store: Store<Document>) {
    this.#options = options;
    this.#store = store;
  }

  static async open(
    options: ProjectsOptions,
  ): Promise<{ projects: Projects; corrupt: OpenedStore<Document>['corrupt'] }> {
    const { store, corrupt } = await Store.open<Document>(options.path, document, { projects: [] }, options.clock);
    return { projects: new Projects(options, store), corrupt };
  }

  /** Those that are shown, in the order they were added. */
  list(): Project[] {
    return this.#store.value.projects.filter((one) => one.removedAt === null).map(shown);
  }

  /** Also one that was removed: its sessions go on. */
  get(projectId: ProjectId): Project {
    const found = this.#store.value.projects.find((one) => one.projectId === projectId);
    if (found === undefined) throw new RequestError('not_found', 'There is no such project on this machine.');
    return shown(found);
  }

  isShown(projectId: ProjectId | null): boolean {
    return this.#store.value.projects.some((one) => one.projectId === projectId && one.removedAt === null);
  }

  /** The project of a folder, where one is shown. */
  at(path: string): Project | null {
    return this.list().find((one) => one.path === path) ?? null;
  }

  /** Adds a folder, or shows it again. Rejects with `invalid_params` and a sentence that says what is wrong with the path. */
  async add(path: string): Promise<Project> {
    const folder = await this.#folderOf(path);
    const { clock, ids } = this.#options;
    const next = await this.#store.update(({ projects }) => {
      const before = projects.find((one) => one.path === folder);
      if (before !== undefined)
        return { projects: projects.map((one) => (one === before ? { ...one, removedAt: null } : one)) };
      const added = {
        projectId: newId('prj', ids),
        name: basename(folder) || folder,
        path: folder,
        addedAt: clock.now(),
        removedAt: null,
      };
      return { projects: [...projects, added] };
    });
    this.#options.changed();
    const added = next.projects.find((one) => one.path === folder);
    if (added === undefined) throw new RequestError('internal', 'The project was not kept.');
    return shown(added);
  }

  /** A project that came with a session of a run in a terminal: kept under the id that the session names, unless its folder or id is known. */
  async adopt(project: Project): Promise<void> {
    const known = (one: Project) => one.projectId === project.projectId || one.path === project.path;
    if (this.#store.value.projects.some(known)) return;
    await this.#store.update(({ projects }) => ({
      projects: projects.some(known) ? projects : [...projects, { ...project, removedAt: null }],
    }));
    this.#options.changed();
  }

  /** The id under which a project that a session names is known here: its own, or that of the same folder. */
  idOf(project: Project): ProjectId {
    const { projects } = this.#store.value;
    const known =
      projects.find((one) => one.projectId === project.projectId) ?? projects.find((one) => one.path === project.path);
    return known?.projectId ?? project.projectId;
  }

  /** Every project's folder, in the order it was added; those that were removed last. */
  folders(): { projectId: ProjectId; path: string; removed: boolean }[] {
    const all = this.#store.value.projects.map(({ projectId, path, removedAt }) => ({
      projectId,
      path,
      removed: removedAt !== null,
    }));
    return [...all.filter((one) => !one.removed), ...all.filter((one) => one.removed)];
  }

  hidden(): ProjectId[] {
    return this.#store.value.projects.filter((one) => one.removedAt !== null).map((one) => one.projectId);
  }

  async remove(projectId: ProjectId): Promise<void> {
    this.get(projectId);
    await this.#setRemoved(projectId, this.#options.clock.now());
  }

  async restore(projectId: ProjectId): Promise<Project> {
    this.get(projectId);
    await this.#setRemoved(projectId, null);
    return this.get(projectId);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #setRemoved(projectId: ProjectId, removedAt: number | null): Promise<void> {
    await this.#store.update(({ projects }) => ({
      projects: projects.map((one) => (one.projectId === projectId ? { ...one, removedAt } : one)),
    }));
    this.#options.changed();
  }

  async #folderOf(path: string): Promise<string> {
    const { userHome, forbidden } = this.#options;
    const expanded = expandHome(path, userHome);
    if (!isAbsolute(expanded))
      throw new RequestError('invalid_params', 'Give the whole path of the folder, from / or ~/ on.');
    let folder: string;
    try {
      folder = await realpath(resolve(expanded));
    } catch {
      throw new RequestError('invalid_params', `There is no folder ${expanded}. Check the spelling, or make it first.`);
    }
    if (!(await stat(folder)).isDirectory())
      throw new RequestError('invalid_params', `${folder} is a file. Give the folder that it is in.`);
    if (`${folder}/`.startsWith(`${forbidden}/`))
      throw new RequestError('invalid_params', `${folder} is Alcove's own home, which agents may not touch.`);
    return folder;
  }
}

function shown({ projectId, name, path, addedAt }: z.infer<typeof kept>): Project {
  return { projectId, name, path, addedAt };
}
