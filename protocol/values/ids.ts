/**
 * Branded ids, prefixed by their noun. Ids of things inside one session (turns, steps, parts, calls, approvals, jobs) are counted by the fold and
 * so are short and the same in every replay; ids of things outside (sessions, projects, devices, machines) hold a UUIDv7.
 */
import { z } from '../schema.ts';

const uuid7 = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const outside = <Brand extends string>(prefix: string) =>
  z.string().check(z.regex(new RegExp(`^${prefix}_${uuid7}$`))) as unknown as z.ZodMiniType<Id<Brand>>;
const inside = <Brand extends string>(prefix: string) =>
  z.string().check(z.regex(new RegExp(`^${prefix}_[1-9][0-9]{0,15}$`))) as unknown as z.ZodMiniType<Id<Brand>>;

export type Id<Brand extends string> = string & { readonly __id: Brand };

/** Made by the client that asks: a UUIDv7, whose time says whether a repeat can still be known. */
export type CommandId = Id<'command'>;
export const commandId = z.string().check(z.regex(new RegExp(`^${uuid7}$`))) as unknown as z.ZodMiniType<CommandId>;

/** An input's id is the id of the command that submitted it. */
export type InputId = CommandId;
export const inputId = commandId;

export type SessionId = Id<'session'>;
export const sessionId = outside<'session'>('ses');
export type ProjectId = Id<'project'>;
export const projectId = outside<'project'>('prj');
export type DeviceId = Id<'device'>;
export const deviceId = outside<'device'>('dev');
export type MachineId = Id<'machine'>;
export const machineId = outside<'machine'>('mac');
export type RuleId = Id<'rule'>;
export const ruleId = outside<'rule'>('rul');

export type TurnId = Id<'turn'>;
export const turnId = inside<'turn'>('trn');
export type StepId = Id<'step'>;
export const stepId = inside<'step'>('stp');
export type PartId = Id<'part'>;
export const partId = inside<'part'>('prt');
export type CallId = Id<'call'>;
export const callId = inside<'call'>('cal');
export type ApprovalId = Id<'approval'>;
export const approvalId = inside<'approval'>('apr');
export type QuestionId = Id<'question'>;
export const questionId = inside<'question'>('qst');
export type JobId = Id<'job'>;
export const jobId = inside<'job'>('job');

/** The milliseconds since the epoch that a UUIDv7 (bare or behind a prefix) was made at. */
export function timeOfId(id: string): number {
  const bare = id.slice(id.lastIndexOf('_') + 1).replaceAll('-', '');
  return Number.parseInt(bare.slice(0, 12), 16);
}
