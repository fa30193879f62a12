/** A tool environment on a scratch folder: a project, a home that is forbidden, and everything the tools report kept for a test to look at. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Sandbox } from '../tools/sandbox/sandbox.ts';
import { noJobs } from './no-jobs.ts';
import type { Assessment, Tool, ToolEnvironment, ToolResult } from '../tools/tool.ts';

export class ToolScratch {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'alcove-tools-')));
  readonly folder = join(this.root, 'project');
  readonly home = join(this.root, 'home');
  readonly person = join(this.root, 'person');
  readonly blobs = new Map<string, Buffer>();
  readonly seen = new Map<string, string>();
  readonly mark = `test-${process.pid}-${Math.random().toString(36).slice(2)}`;
  readonly groups: string[] = [];
  /** Those that are being written. */
  readonly temporaries = new Set<string>();
  output = '';

  readonly environment: ToolEnvironment = {
    folder: this.folder,
    forbidden: [this.home],
    sandbox: { of: Sandbox.none, readOnly: false },
    spills: join(this.home, 'spills', 'ses_1'),
    processEnvironment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: this.person },
    storeBlob: (bytes) => {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      this.blobs.set(sha256, Buffer.from(bytes));
      return Promise.resolve({ sha256, bytes: bytes.length });
    },
    spillFile: (name) => {
      mkdirSync(this.environment.spills, { recursive: true });
      return Promise.resolve(join(this.environment.spills, name));
    },
    filesSeen: this.seen,
    processes: {
      mark: this.mark,
      started: ({ pid }) => {
        this.groups.push(`started ${pid}`);
        return Promise.resolve();
      },
      ended: ({ pid }) => {
        this.groups.push(`ended ${pid}`);
        return Promise.resolve();
      },
    },
    jobs: noJobs,
    temporaries: {
      writing: (path) => {
        this.temporaries.add(path);
        return Promise.resolve();
      },
      written: (path) => {
        this.temporaries.delete(path);
        return Promise.resolve();
      },
    },
    output: (text) => {
      this.output += text;
    },
  };

  constructor() {
    for (const folder of [this.folder, this.home, this.person]) mkdirSync(folder);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  put(name: string, content: string | Uint8Array): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  get(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  bytes(name: string): Buffer {
    return readFileSync(this.path(name));
  }

  async call(
    tool: Tool,
    args: Record<string, unknown>,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<ToolResult> {
    const call = tool.prepare(args);
    if ('problem' in call) throw new Error(call.problem);
    return call.execute(this.environment, signal);
  }

  async assess(tool: Tool, args: Record<string, unknown>): Promise<Assessment> {
    const call = tool.prepare(args);
    if ('problem' in call) throw new Error(call.problem);
    return call.assess(this.environment);
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** What the model is told. */
export function textOf(result: ToolResult): string {
  return result.content.map((part) => (part.type === 'text' ? part.text : `<${part.type}>`)).join('\n');
}
