/** The report of a session that is not open here: closed, damaged, or written by somebody else. Reads its log, and writes nothing. */
import { RequestError } from '#protocol/errors.ts';
import type { ContextReport } from '#protocol/values/context-report.ts';
import { noSandbox } from '#protocol/values/sandbox.ts';
import { systemClock } from '../../base/clock.ts';
import { Blobs } from '../../session/blobs.ts';
import { History } from '../../session/history.ts';
import type { SessionPlace } from '../../session/place.ts';
import { FileQueue } from '../../tools/file-queue.ts';
import { builtInTools } from '../../tools/registry.ts';
import { offeredTo } from '../offered-tools.ts';
import { promptParts } from './prompt.ts';
import { Requests } from './request.ts';

/** What the model takes is not looked up: its window is the one that was measured last. Rejects where the log is of no session. */
export async function reportOfLog(place: SessionPlace): Promise<ContextReport> {
  const history = await History.open(place.log);
  try {
    const nothing = () => undefined;
    const conversation = await history.foldAll(nothing, nothing);
    const { session, settings, active, context } = conversation;
    if (session === null) throw new RequestError('not_found', `${place.log} holds no session.`);
    const blobs = new Blobs(place.blobs);
    const requests = new Requests({
      sessionId: session.sessionId,
      folder: session.folder,
      clock: systemClock,
      tools: offeredTo(session, builtInTools(new FileQueue()), true),
      // What holds commands is known to the daemon that ran it.
      sandbox: noSandbox,
      prompt: promptParts,
      limited: (own) => own,
      readBlob: (blob) => blobs.read(blob),
    });
    const name = active?.step?.model ?? settings.model ?? 'unknown';
    const model = name.slice(name.indexOf('/') + 1);
    return await requests.report(
      conversation,
      { name, model, limit: context?.limit ?? null },
      { pictures: null, documents: false },
    );
  } finally {
    await history.close();
  }
}
