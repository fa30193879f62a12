/** The environment variables that Alcove heeds besides those that hold keys: told by `--help` and by the reference. */
export const variables: readonly { readonly name: string; readonly meaning: string }[] = [
  { name: 'ALCOVE_HOME', meaning: 'Where sessions, settings and keys are kept. Without it: ~/.alcove' },
  { name: 'ALCOVE_MODEL', meaning: 'provider/model that a new session takes, before the one in the settings' },
  {
    name: 'ALCOVE_LOCAL_SERVERS',
    meaning: 'off, or addresses with commas between, where model servers of this machine are looked for',
  },
  {
    name: 'OLLAMA_HOST',
    meaning: 'Where Ollama listens, if not on 127.0.0.1:11434; only a loopback address is heeded',
  },
];
