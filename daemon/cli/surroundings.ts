/** What the process was started with: read once in main.ts and handed on as values. */
export interface Surroundings {
  readonly home: string;
  readonly userHome: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  readonly version: string;
  readonly webFolder: string;
}
