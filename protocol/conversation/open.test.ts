import { describe, expect, it } from 'vitest';
import { LogBuilder } from '../testing/log-builder.ts';
import { atRest, openWork } from './open.ts';

const command = { title: 'Run', kind: 'command' as const };
const replied = () => new LogBuilder().session().asks('go').turn().step().says(['I will.']).replies();

describe('a turn is at rest', () => {
  const resting: [string, LogBuilder][] = [
    ['where there is none', new LogBuilder().session()],
    ['between two steps', new LogBuilder().session().asks('go').turn().step().says(['a']).replies().endsStep()],
    ['while a call waits for a person', replied().requests('bash', {}, command).needsApproval('It asks.')],
    [
      'when a call was allowed and has not started',
      replied().requests('bash', {}, command).needsApproval('It asks.').answers('allow'),
    ],
    [
      'when an earlier call has ended and the next waits',
      replied()
        .requests('bash', {}, command)
        .starts()
        .ends('done')
        .requests('bash', {}, command)
        .needsApproval('It asks.'),
    ],
  ];
  it.each(resting)('RT25: %s', (_, log) => {
    expect(atRest(log.conversation)).toBe(true);
  });
});

describe('a turn is moving', () => {
  const moving: [string, LogBuilder][] = [
    ['while a reply streams', new LogBuilder().session().asks('go').turn().step().says(['a'], 'text', 'open')],
    ['before the first word of a reply', new LogBuilder().session().asks('go').turn().step()],
    ['while a call runs', replied().requests('bash', {}, command).starts()],
    [
      'while one call runs and another waits',
      replied().requests('bash', {}, command).requests('bash', {}, command).starts(1).needsApproval('It asks.', 2),
    ],
  ];
  it.each(moving)('RT4: %s', (_, log) => {
    expect(atRest(log.conversation)).toBe(false);
  });
});

it('RT14: open work names the parts and calls without an end, and the open approvals', () => {
  const log = replied().requests('bash', {}, command).requests('bash', {}, command).requests('bash', {}, command);
  log.starts(1).ends('done', 'completed', 1).starts(2).needsApproval('It asks.', 3);
  const open = openWork(log.conversation);
  expect(open?.parts).toEqual([]);
  expect(open?.calls.map((call) => [call.callId, call.state])).toEqual([
    ['cal_2', 'running'],
    ['cal_3', 'waiting'],
  ]);
  expect(open?.approvals.map((approval) => approval.approvalId)).toEqual(['apr_1']);
});

it('nothing is open where no turn is', () => {
  expect(openWork(new LogBuilder().session().asks('go').conversation)).toBeNull();
});
