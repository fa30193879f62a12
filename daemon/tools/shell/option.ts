/** Options of command lines as programs read them: letters that are put together, long names that may be shortened. */

/** What reading a program's arguments found; the texts complete "the command …". */
export type Risk = { destructive?: string; unclear?: string } | null;

/** Is one of the letters or long names among the options? Ends at `--`. A long name also counts when it is shortened, as most programs allow. */
export function hasOption(args: readonly string[], letters: string, ...longNames: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).some((text) => {
    if (text.startsWith('--')) {
      const name = text.split('=', 1)[0] as string;
      return name.length > 2 && longNames.some((long) => long.startsWith(name));
    }
    return text.startsWith('-') && [...letters].some((letter) => text.includes(letter, 1));
  });
}
