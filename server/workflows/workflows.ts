import { sql } from 'kysely'
import { type OrgScope, requireCreatedVia, type WriteScope } from '../access/caller.ts'
import { invalid } from '../api/invalid.ts'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { defineHook } from '../platform/hook.ts'
import { newId } from '../platform/ids.ts'
import type { Language } from '../platform/text/languages.ts'
import { type Channel, type CreatedVia, type Method, methods, type workflowStatuses } from './enums.ts'
import type { WorkflowInput } from './schema.ts'

interface FollowUp {
  after_hours: number
  channel: Channel
}

export interface Workflow {
  workflow_id: string
  name: string
  description: string | null
  default_methods: Method[]
  channels: Channel[]
  languages: Language[]
  follow_ups: FollowUp[]
  created_via: CreatedVia
  status: (typeof workflowStatuses)[number]
  created_at: Date
  updated_at: Date
}

const columns = [
  'workflow_id',
  'name',
  'description',
  'default_methods',
  'channels',
  'languages',
  'follow_ups',
  'created_via',
  'status',
  'created_at',
  'updated_at',
] as const

/**
 * Counts the mandates of each workflow, without archived ones. It is a hook, because the code of mandates depends on workflows,
 * not the reverse.
 */
export const mandateCounts = defineHook<[tx: Queries, workflowIds: string[]], Map<string, number>>(
  'mandateCounts',
).handledBy('mandates')

export async function createWorkflow(
  tx: Tx,
  { orgId, mode }: OrgScope,
  clock: Clock,
  input: WorkflowInput,
  via: CreatedVia,
): Promise<Workflow> {
  validateFollowUpChannels(input)
  const now = clock.now()
  const row = await tx
    .insertInto('workflows')
    .values({
      workflow_id: newId('WF_BC_', now),
      org_id: orgId,
      mode,
      ...settingsOf(input),
      created_via: via,
      status: 'active',
      created_at: new Date(now),
      updated_at: new Date(now),
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
  return row as unknown as Workflow
}

/** Replaces the whole workflow. Questions already prepared for its mandates do not change. */
export async function replaceWorkflow(
  tx: Tx,
  scope: WriteScope,
  clock: Clock,
  id: string,
  input: WorkflowInput,
): Promise<Workflow> {
  const current = await lockWorkflow(tx, scope, id)
  requireCreatedVia('workflow', current.created_via, scope)
  if (current.status === 'archived') throw problem('CONFLICT', 'An archived workflow cannot be changed.')
  validateFollowUpChannels(input)
  return updateWorkflow(tx, clock, id, settingsOf(input))
}

/** Archives a workflow permanently. Archiving an archived workflow changes nothing. */
export async function archiveWorkflow(tx: Tx, scope: WriteScope, clock: Clock, id: string): Promise<Workflow> {
  const current = await lockWorkflow(tx, scope, id)
  requireCreatedVia('workflow', current.created_via, scope)
  if (current.status === 'archived') return current
  const { mandates: counts } = await mandateCounts.run(tx, [id])
  const mandateCount = counts.get(id) ?? 0
  if (mandateCount > 0)
    throw problem(
      'WORKFLOW_IN_USE',
      `${mandateCount} ${mandateCount === 1 ? 'mandate uses' : 'mandates use'} this workflow; archive ${mandateCount === 1 ? 'it' : 'them'} first.`,
    )
  return updateWorkflow(tx, clock, id, { status: 'archived' })
}

export async function findWorkflow(tx: Queries, scope: OrgScope, id: string): Promise<Workflow | undefined> {
  return (await workflowsOf(tx, scope).where('workflow_id', '=', id).executeTakeFirst()) as Workflow | undefined
}

export async function getWorkflow(tx: Queries, scope: OrgScope, id: string): Promise<Workflow> {
  return (await findWorkflow(tx, scope, id)) ?? throwNotFound(id)
}

export interface WorkflowWithRowVersion extends Workflow {
  /** The xmin of the row, which changes with every update. */
  rowVersion: string
}

export async function findWorkflowWithRowVersion(
  tx: Queries,
  scope: OrgScope,
  id: string,
): Promise<WorkflowWithRowVersion | undefined> {
  const row = await workflowsOf(tx, scope)
    .select(sql<string>`xmin::text`.as('rowVersion'))
    .where('workflow_id', '=', id)
    .executeTakeFirst()
  return row as WorkflowWithRowVersion | undefined
}

/** Locks the workflow against being archived until the transaction ends. Several transactions can hold this lock. */
export async function lockWorkflowForUse(tx: Tx, scope: OrgScope, id: string): Promise<Workflow | undefined> {
  const row = await workflowsOf(tx, scope).where('workflow_id', '=', id).forKeyShare().executeTakeFirst()
  return row as Workflow | undefined
}

export interface WorkflowPage {
  /** ID of the last workflow on the previous page. */
  after?: string | undefined
  limit: number
}

/** Lists workflows, newest first. */
export async function listWorkflows(tx: Queries, scope: OrgScope, { after, limit }: WorkflowPage): Promise<Workflow[]> {
  const rows = await workflowsOf(tx, scope)
    .$if(after !== undefined, (query) => query.where('workflow_id', '<', after!))
    .orderBy('workflow_id', 'desc')
    .limit(limit)
    .execute()
  return rows as unknown as Workflow[]
}

/** Returns the API representation of workflows, with the number of their mandates. */
export async function workflowRecords(tx: Queries, workflows: Workflow[]) {
  const { mandates: counts } = await mandateCounts.run(
    tx,
    workflows.map(({ workflow_id }) => workflow_id),
  )
  return workflows.map(({ description, created_at, updated_at, ...fields }) => ({
    ...fields,
    ...(description === null ? {} : { description }),
    mandates: counts.get(fields.workflow_id) ?? 0,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }))
}

/** Sorts methods in the order in which candidates complete them. */
export function sortMethods(selected: readonly Method[]): Method[] {
  return methods.filter((method) => selected.includes(method))
}

function workflowsOf(tx: Queries, { orgId, mode }: OrgScope) {
  return tx.selectFrom('workflows').select(columns).where('org_id', '=', orgId).where('mode', '=', mode)
}

async function lockWorkflow(tx: Tx, scope: OrgScope, id: string): Promise<Workflow> {
  const row = await workflowsOf(tx, scope).where('workflow_id', '=', id).forUpdate().executeTakeFirst()
  return (row as Workflow | undefined) ?? throwNotFound(id)
}

async function updateWorkflow(tx: Tx, clock: Clock, id: string, change: object): Promise<Workflow> {
  const row = await tx
    .updateTable('workflows')
    .set({ ...change, updated_at: new Date(clock.now()) })
    .where('workflow_id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
  return row as unknown as Workflow
}

function settingsOf(input: WorkflowInput) {
  return {
    name: input.name,
    description: input.description ?? null,
    default_methods: sortMethods(input.default_methods ?? methods),
    channels: input.channels ?? ['whatsapp'],
    languages: input.languages ?? ['en'],
    follow_ups: JSON.stringify(input.follow_ups ?? []),
  }
}

function validateFollowUpChannels({ channels = ['whatsapp'], follow_ups = [] }: WorkflowInput) {
  const details = follow_ups.flatMap(({ channel }, index) =>
    channels.includes(channel)
      ? []
      : [
          {
            path: `follow_ups[${index}].channel`,
            message: `must be one of the workflow's channels: ${channels.join(', ')}`,
          },
        ],
  )
  if (details.length > 0) throw invalid(details)
}

function throwNotFound(id: string): never {
  throw problem('NOT_FOUND', `Workflow ${id} not found.`)
}
