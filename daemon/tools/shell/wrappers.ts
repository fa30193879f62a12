/**
 * Programs that run another one: `env X=1`, `timeout 5`, `nohup`, `xargs`, `npx`. What they run is judged; an option that is not known here makes it
 * unclear where the inner command begins.
 */
import type { Word } from './syntax.ts';

export interface Wrapped {
  inner: readonly Word[];
  assignments: string[];
  /** Where `env -C` runs it. */
  folder: string | null;
}

interface Wrapper {
  /** Options that take the next word as their value. */
  valued: readonly string[];
  /** Options that stand alone, or hold their value in the same word. */
  alone: RegExp;
  /** Words between the options and the command. */
  operands: number;
}

const wrappers: Readonly<Record<string, Wrapper>> = {
  env: {
    valued: ['-u', '--unset', '-C', '--chdir'],
    alone: /^(-i|-|-0|-v|--ignore-environment|--unset=.*|--chdir=.*|-u.+|-C.+)$/,
    operands: 0,
  },
  nohup: { valued: [], alone: /^$/, operands: 0 },
  timeout: {
    valued: ['-k', '-s', '--kill-after', '--signal'],
    alone: /^(-v|--foreground|--preserve-status|--verbose|--kill-after=.*|--signal=.*|-k.+|-s.+)$/,
    operands: 1,
  },
  gtimeout: { valued: ['-k', '-s'], alone: /^(-v|--foreground|--preserve-status)$/, operands: 1 },
  time: {
    valued: ['-f', '-o', '--format', '--output'],
    alone: /^(-p|-v|-a|--portability|--verbose|--append|--format=.*)$/,
    operands: 0,
  },
  nice: { valued: ['-n', '--adjustment'], alone: /^(-n-?\d+|--?\d+|--adjustment=.*)$/, operands: 0 },
  ionice: {
    valued: ['-c', '-n', '--class', '--classdata'],
    alone: /^(-c\d|-n\d|-t|--class=.*|--classdata=.*)$/,
    operands: 0,
  },
  stdbuf: { valued: ['-i', '-o', '-e'], alone: /^(-[ioe].+|--(input|output|error)=.*)$/, operands: 0 },
  setsid: { valued: [], alone: /^(-[cfw]+|--ctty|--fork|--wait)$/, operands: 0 },
  command: { valued: [], alone: /^-p$/, operands: 0 },
  builtin: { valued: [], alone: /^$/, operands: 0 },
  exec: { valued: ['-a'], alone: /^-[cl]+$/, operands: 0 },
  chronic: { valued: [], alone: /^-[ve]+$/, operands: 0 },
  caffeinate: { valued: ['-t', '-w'], alone: /^-[disum]+$/, operands: 0 },
  busybox: { valued: [], alone: /^$/, operands: 0 },
  toybox: { valued: [], alone: /^$/, operands: 0 },
  npx: { valued: ['-p', '--package'], alone: /^(-y|-q|--yes|--no|--no-install|--quiet|--package=.*)$/, operands: 0 },
  bunx: { valued: [], alone: /^(--bun|-y)$/, operands: 0 },
  xargs: {
    valued: [
      '-n',
      '-P',
      '-I',
      '-d',
      '-L',
      '-s',
      '-a',
      '-E',
      '--max-args',
      '--max-procs',
      '--delimiter',
      '--arg-file',
      '--max-lines',
    ],
    alone:
      /^(-[0rtpx]+|-[nPIdLsEa].+|-i.*|--null|--no-run-if-empty|--verbose|--replace(=.*)?|--(max-args|max-procs|delimiter|arg-file|max-lines)=.*)$/,
    operands: 0,
  },
};

/** The command inside, null when this is no wrapper, or 'unknown' when its options cannot be told from the command. */
export function unwrap(name: string, rest: readonly Word[]): Wrapped | null | 'unknown' {
  const runner = packageRunner(name, rest);
  const wrapper = runner?.wrapper ?? (Object.hasOwn(wrappers, name) ? wrappers[name] : undefined);
  if (wrapper === undefined) return null;
  if (name === 'command' && /^-[vV]+$/.test(rest[0]?.text ?? '')) return null; // only says where it is
  const assignments: string[] = [];
  let folder: string | null = null;
  let at = runner?.skip ?? 0;
  while (at < rest.length) {
    const { text, splits } = rest[at] as Word;
    if (splits) return 'unknown';
    if (text === '--') {
      at++;
      break;
    }
    if (name === 'env')
      folder =
        /^(?:--chdir=|-C)(.+)$/s.exec(text)?.[1] ??
        (/^(-C|--chdir)$/.test(text) ? (rest[at + 1]?.text ?? null) : folder);
    const assigned = name === 'env' ? /^([A-Za-z_]\w*)=/.exec(text)?.[1] : undefined;
    if (assigned !== undefined) {
      assignments.push(assigned);
      at++;
    } else if (!text.startsWith('-')) break;
    else if (wrapper.valued.includes(text)) at += 2;
    else if (wrapper.alone.test(text)) at++;
    else return 'unknown';
  }
  return { inner: rest.slice(at + wrapper.operands), assignments, folder };
}

/** The files whose lines xargs hands on. */
export function listsOf(args: readonly string[]): string[] {
  return args.flatMap((text, at) => {
    const attached = /^(?:-a|--arg-file=)(.+)$/s.exec(text)?.[1];
    if (attached !== undefined) return [attached];
    return /^(-a|--arg-file)$/.test(args[at - 1] ?? '') ? [text] : [];
  });
}

/** `npm exec X`, `pnpm dlx X`, `yarn dlx X`: npx by other names. */
function packageRunner(name: string, rest: readonly Word[]): { wrapper: Wrapper; skip: number } | null {
  const verb = rest[0]?.text ?? '';
  const runs =
    (name === 'npm' && /^(exec|x)$/.test(verb)) || (/^(pnpm|yarn|bun)$/.test(name) && /^(dlx|exec|x)$/.test(verb));
  return runs ? { wrapper: wrappers['npx'] as Wrapper, skip: 1 } : null;
}
