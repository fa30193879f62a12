/** How a text says that its middle is missing, and how that is known again in a log. */

export function leftOutHere({ omittedLines, omittedBytes }: { omittedLines: number; omittedBytes: number }): string {
  return `${omittedLines.toLocaleString('en')} lines (${omittedBytes.toLocaleString('en')} bytes) are left out here`;
}

/** How many bytes the text says to be missing; null where it says nothing of that. */
export function leftOutBytes(text: string): number | null {
  const bytes = /\[… [\d,]+ lines \(([\d,]+) bytes\) are left out here/.exec(text)?.[1];
  return bytes === undefined ? null : Number(bytes.replaceAll(',', ''));
}
