/** For verbs that only print: a reader that has seen enough (`| head`) ends them, quietly. A run goes on without one, and does not call this. */
export function endWithReader(): void {
  process.stdout.on('error', () => process.exit(0));
}
