import { flushSync } from 'svelte';
import { describe, expect, it, vi } from 'vitest';
import { fingerprintOf } from '../connection/handshake.ts';
import type { OpenRequest } from '#protocol/commands/session-values.ts';
import type { ApprovalId } from '#protocol/values/ids.ts';
import { project, settled, summaryOf, TestApp } from '../testing/app.ts';
import { FakeDaemon } from '../testing/fake-daemon.ts';

const names = (rows: readonly { title: string }[]) => rows.map((row) => row.title);
const request = (at: number): OpenRequest => ({
  approvalId: 'apr_1' as ApprovalId,
  at,
  tool: 'bash',
  title: 'Run',
  target: 'npm test',
  reason: 'bash asks in shop',
  caution: false,
  rulePattern: 'npm test',
  arguments: null,
  preview: null,
});

describe('the catalogue', () => {
  it('lists sessions newest first, and those that need the person longest first', async () => {
    const { app } = await opened(
      summaryOf(1, { state: 'waiting', requests: [request(50)] }),
      summaryOf(2, { state: 'running' }),
      summaryOf(3, { state: 'waiting', requests: [request(20)] }),
      summaryOf(4, { archived: true }),
    );
    expect(names(app.catalog.sessions)).toEqual(['Session 3', 'Session 2', 'Session 1']);
    expect(names(app.catalog.needsYou)).toEqual(['Session 3', 'Session 1']);
    expect(names(app.catalog.running)).toEqual(['Session 2']);
    expect(names(app.catalog.byProject(project.projectId))).toHaveLength(3);
  });

  it('one notice takes a session out of every place that says it needs the person', async () => {
    const { app, socket } = await opened(summaryOf(1, { state: 'waiting', requests: [request(1)] }));
    const seen: number[] = [];
    const stop = $effect.root(() => {
      $effect(() => void seen.push(app.catalog.needsYou.length));
    });
    flushSync();
    socket.notify('notice', { topic: 'session', session: summaryOf(1, { state: 'running', driver: 'running' }) });
    flushSync();
    stop();
    expect(seen).toEqual([1, 0]);
    expect(names(app.catalog.running)).toEqual(['Session 1']);
  });

  it('news that comes while the list is under way is newer than the list', async () => {
    const visit = new TestApp();
    visit.client.start();
    const socket = await visit.daemon.admit();
    const list = await socket.next('session.list');
    socket.notify('notice', { topic: 'session', session: summaryOf(1, { title: 'New name' }) });
    socket.answer(list, { sessions: [summaryOf(1)], next: null });
    socket.answer(await socket.next('project.list'), { projects: [project], offered: '/home/kim/api' });
    await settled();
    expect(names(visit.app.catalog.sessions)).toEqual(['New name']);
    expect(visit.app.catalog.offered).toBe('/home/kim/api');
  });

  it('says so where the machine answers and its lists cannot be read', async () => {
    const visit = new TestApp();
    visit.client.start();
    const socket = await visit.daemon.admit();
    socket.refuse(await socket.next('session.list'), 'storage_failed', 'The disk does not answer.');
    await settled();
    expect(visit.app.problem).toBe('The disk does not answer.');
  });

  it('hides the sessions of a removed project, and an undo brings them back', async () => {
    const { app, socket } = await opened(summaryOf(1));
    const removed = app.removeProject(project.projectId);
    socket.answer(await socket.next('project.remove'), {});
    const undo = await removed;
    socket.notify('notice', { topic: 'projects', projects: [], offered: null });
    expect(app.catalog.sessions).toEqual([]);
    const undone = undo();
    socket.answer(await socket.next('project.restore'), { project });
    await undone;
    expect(names(app.catalog.sessions)).toEqual(['Session 1']);
  });

  it('lists what a project holds that was removed when the page was opened, once it is added again', async () => {
    const { app, socket } = await opened();
    socket.notify('notice', { topic: 'projects', projects: [], offered: null });
    const added = app.addProject('/home/kim/shop');
    socket.answer(await socket.next('project.add'), { project });
    await added;
    socket.answer(await socket.next('session.list'), { sessions: [summaryOf(1)], next: null });
    await settled();
    expect(names(app.catalog.sessions)).toEqual(['Session 1']);
  });

  it('what came to rest is unread until it is looked at, on this device', async () => {
    const visit = new TestApp();
    const now = visit.clock.now();
    const old = summaryOf(1, { updatedAt: now - 1, lastOutcome: 'completed' });
    const finished = summaryOf(2, { updatedAt: now + 1, lastOutcome: 'completed' });
    const running = summaryOf(3, { updatedAt: now + 1, lastOutcome: 'completed', state: 'running' });
    await visit.open([old, finished, running]);
    const { catalog } = visit.app;
    const unread = () => [old, finished, running].map((row) => catalog.unread(row.sessionId));
    expect(unread()).toEqual([false, true, false]);
    catalog.markSeen(finished.sessionId);
    expect(unread()).toEqual([false, false, false]);
    const again = new TestApp({ daemon: visit.daemon, storage: visit.storage });
    await again.open([old, { ...finished, seq: 11 }]);
    expect(again.app.catalog.unread(finished.sessionId)).toBe(true);
  });

  it('the ring goes from who needs you to what failed to what finished', async () => {
    const late = { updatedAt: Number.MAX_SAFE_INTEGER, lastOutcome: 'completed' as const };
    const { app } = await opened(
      summaryOf(1, late),
      summaryOf(2, { ...late, state: 'failed', lastOutcome: 'failed' }),
      summaryOf(3, { state: 'waiting', requests: [request(1)] }),
    );
    const ring = [3, 2, 1].map((number) => summaryOf(number).sessionId);
    expect(app.catalog.nextInRing(null)).toBe(ring[0]);
    expect(ring.map((from) => app.catalog.nextInRing(from))).toEqual([ring[1], ring[2], ring[0]]);
  });
});

describe('pairing', () => {
  const unpaired = async (visit: TestApp) => {
    visit.client.start();
    await visit.daemon.sayHello();
  };

  it('with what a person typed leads to an open connection', async () => {
    const visit = new TestApp({ paired: false });
    await unpaired(visit);
    // The signature is checked on a thread of the browser's: the page says what follows when it knows.
    await vi.waitFor(() => expect(visit.app.connection).toMatchObject({ type: 'refused', reason: 'unpaired' }));
    visit.pairing = { ok: true, body: visit.daemon.credentials };
    await visit.app.pair('4a7f-xy9w');
    await visit.daemon.opened(2);
    await visit.open();
    expect(visit.app.connection.type).toBe('open');
    expect(visit.app.machine).toEqual(visit.machine);
  });

  it('by the link that the page was opened by needs nobody', async () => {
    const daemon = new FakeDaemon();
    const fingerprint = (await fingerprintOf(daemon.credentials.publicKey)) ?? '';
    const link = { code: 'abc', machineId: daemon.machineId, fingerprint };
    const visit = new TestApp({ daemon, paired: false, link });
    visit.pairing = { ok: true, body: daemon.credentials };
    await unpaired(visit);
    await daemon.opened(2);
    await visit.open();
    expect(visit.app.connection.type).toBe('open');
    expect(visit.posted).toEqual([['/pair', { code: 'abc', name: 'Firefox on Linux' }]]);
  });

  it('ignores the link where this browser is paired already', async () => {
    const daemon = new FakeDaemon();
    const link = { code: 'abc', machineId: daemon.machineId, fingerprint: 'x' };
    const visit = new TestApp({ daemon, link });
    await visit.open();
    expect(visit.posted).toEqual([]);
  });

  it('does not spend a code on another machine than the link names', async () => {
    const link = { code: 'abc', machineId: 'mac_other', fingerprint: 'x' };
    const visit = new TestApp({ paired: false, link });
    await unpaired(visit);
    await vi.waitFor(() => expect(visit.app.pairingProblem).toMatch(/another machine/));
    expect(visit.posted).toEqual([]);
  });

  it('refuses what is no code before anything is sent', async () => {
    const visit = new TestApp({ paired: false });
    await expect(visit.app.pair('hello')).rejects.toMatchObject({ code: 'invalid_params' });
    expect(visit.posted).toEqual([]);
  });
});

describe('sessions', () => {
  it('can be taken while a component computes, and are the same until another machine answers', async () => {
    const visit = new TestApp();
    await visit.open([summaryOf(1)]);
    const { sessionId } = summaryOf(1);
    let session: unknown;
    const phases: string[] = [];
    const stop = $effect.root(() => {
      const current = $derived(visit.app.session(sessionId));
      $effect(() => {
        session = current;
        phases.push(current.phase);
      });
    });
    flushSync();
    expect(session).toBe(visit.app.session(sessionId));
    const other = new FakeDaemon(2);
    visit.credentials.keep(other.credentials);
    visit.daemon.socket.drop();
    flushSync();
    visit.daemon = other;
    await visit.reopen();
    flushSync();
    stop();
    expect(session).toBe(visit.app.session(sessionId));
    expect(visit.app.catalog.sessions).toEqual([]);
    expect(visit.app.machine?.machineId).toBe(other.machineId);
    expect(phases).toContain('offline');
  });

  it('are created under the same ids again where the answer was lost', async () => {
    const visit = new TestApp();
    const socket = await visit.open();
    visit.app.draftOf(project.projectId).text = 'build it';
    const lost = visit.app.createSession(project.projectId, 'build it', { mode: 'auto' });
    const rejected = expect(lost).rejects.toMatchObject({ code: 'unavailable' });
    const first = await socket.next('session.create');
    socket.drop();
    visit.clock.sleep(61_000);
    visit.client.close();
    await rejected;
    const reloaded = new TestApp({ daemon: visit.daemon, storage: visit.storage });
    const again = await reloaded.open();
    const draft = reloaded.app.draftOf(project.projectId);
    expect(draft.text).toBe('build it');
    const created = reloaded.app.createSession(project.projectId, draft.text, { mode: 'auto' });
    const second = await again.next('session.create');
    expect(second.params).toEqual(first.params);
    again.answer(second, { seq: 2 });
    expect(await created).toBe((first.params as { sessionId: string }).sessionId);
    expect(draft.text).toBe('');
  });

  it('UI22: what is typed while it is being made goes along to it', async () => {
    const { app, socket } = await opened();
    const draft = app.draftOf(project.projectId);
    draft.text = 'build it';
    const created = app.createSession(project.projectId, draft.text);
    draft.text = '';
    socket.answer(await socket.next('session.create'), { seq: 2 });
    const sessionId = await created;
    draft.text = 'and te';
    app.takeAlong(project.projectId, sessionId);
    draft.text = 'st it';
    app.takeAlong(project.projectId, sessionId);
    expect([draft.text, app.session(sessionId).draft]).toEqual(['', 'and test it']);
  });

  it('a second one with the same words is another one', async () => {
    const { app, socket } = await opened();
    const create = async () => {
      const created = app.createSession(project.projectId, 'again');
      socket.answer(await socket.next('session.create'), { seq: 2 });
      return created;
    };
    expect(await create()).not.toBe(await create());
  });
});

it('preferences are kept, and a system theme follows the system', async () => {
  const visit = new TestApp();
  visit.app.preferences.theme = 'contrast';
  visit.app.preferences.sidebarOpen = false;
  const again = new TestApp({ storage: visit.storage });
  expect([again.app.preferences.resolvedTheme, again.app.preferences.sidebarOpen]).toEqual(['contrast', false]);
  again.app.preferences.theme = 'system';
  expect(again.app.preferences.resolvedTheme).toBe('light');
});

async function opened(...sessions: ReturnType<typeof summaryOf>[]) {
  const visit = new TestApp();
  const socket = await visit.open(sessions);
  return { app: visit.app, socket };
}
