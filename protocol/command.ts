/** The map name -> { doc, params, result }: the only list of commands. A command without a handler does not compile. */
import type { z } from './schema.ts';
import { approvalCommands } from './commands/approval.ts';
import { folderCommands } from './commands/folder.ts';
import { handshakeCommands } from './commands/handshake.ts';
import { jobCommands } from './commands/job.ts';
import { machineCommands } from './commands/machine.ts';
import { modelCommands } from './commands/model.ts';
import { documentCommands } from './commands/document.ts';
import { pictureCommands } from './commands/picture.ts';
import { projectCommands } from './commands/project.ts';
import { providerCommands } from './commands/provider.ts';
import { sessionCommands } from './commands/session.ts';

export const commands = {
  ...sessionCommands,
  ...documentCommands,
  ...pictureCommands,
  ...jobCommands,
  ...approvalCommands,
  ...projectCommands,
  ...folderCommands,
  ...modelCommands,
  ...providerCommands,
  ...machineCommands,
};
/** Only on a socket, only first. */
export const handshake = handshakeCommands;

export type CommandName = keyof typeof commands;
export type Params<Name extends CommandName> = z.infer<(typeof commands)[Name]['params']>;
export type Result<Name extends CommandName> = z.infer<(typeof commands)[Name]['result']>;

export type HandshakeName = keyof typeof handshake;
export type HandshakeParams<Name extends HandshakeName> = z.infer<(typeof handshake)[Name]['params']>;
export type HandshakeResult<Name extends HandshakeName> = z.infer<(typeof handshake)[Name]['result']>;
