/** Which of the tools that an agent offers runs shell commands, and the arguments that make it run one. */

export interface OfferedTool {
  readonly name: string;
  /** How it is called: most as functions; some vendors' own agents have kinds of their own. */
  readonly kind: 'function' | 'local_shell' | 'custom';
  readonly namespace: string | null;
  /** The JSON schema of its arguments. */
  readonly schema: unknown;
}

const names = /^(bash|shell|shell_command|exec_command|local_shell|run_shell_command|execute_command|run_command)$/i;

export function shellToolOf(tools: readonly OfferedTool[]): OfferedTool | null {
  return tools.find(({ name }) => names.test(name)) ?? null;
}

/** Its command, and something plain for whatever else it insists on. */
export function argumentsFor({ schema }: OfferedTool, command: string): Record<string, unknown> {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, { type?: string | string[]; enum?: unknown[]; minimum?: number }>;
    required?: string[];
  };
  const filled: Record<string, unknown> = {};
  for (const [name, { type, enum: choices, minimum }] of Object.entries(properties)) {
    const kind = Array.isArray(type) ? type[0] : type;
    if (/^(command|cmd|script)$/.test(name)) filled[name] = kind === 'array' ? ['bash', '-lc', command] : command;
    else if (!required.includes(name)) continue;
    else if (choices !== undefined) filled[name] = choices[0];
    else if (kind === 'number' || kind === 'integer') filled[name] = minimum ?? 1;
    else if (kind === 'boolean') filled[name] = false;
    else if (kind === 'array') filled[name] = [];
    else if (kind === 'object') filled[name] = {};
    else filled[name] = 'run the step';
  }
  return filled;
}
