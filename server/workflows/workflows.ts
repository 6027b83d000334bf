import { sql } from 'kysely'
import { type Changer, type OwnerScope, requireMadeHere } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { invalid } from '../platform/http/validation.ts'
import { newId } from '../platform/ids.ts'
import type { WorkflowInput } from './schema.ts'

/** What a candidate goes through, always in this order. */
export const methods = ['data_enrichment', 'skill_verification', 'interest_collection'] as const
export type Method = (typeof methods)[number]

export const channels = ['whatsapp', 'voice', 'sms', 'email'] as const
export type Channel = (typeof channels)[number]

export const languages = ['en', 'hi', 'bn', 'ta', 'te', 'mr', 'gu', 'kn', 'ml', 'pa', 'or', 'as'] as const
export type Language = (typeof languages)[number]

/** What the console makes can be read through the partner API, but not changed. */
export const createdVia = ['api', 'playground'] as const
export type CreatedVia = (typeof createdVia)[number]

export const workflowStatuses = ['active', 'archived'] as const

export interface FollowUp {
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

type CountMandates = (tx: Queries, workflowIds: string[]) => Promise<Map<string, number>>

let countMandates: CountMandates = async () => new Map()

/** Mandates stand above workflows: they say here how many of them, archived ones left out, follow each workflow. */
export function countMandatesWith(count: CountMandates): void {
  countMandates = count
}

export async function createWorkflow(
  tx: Tx,
  { orgId, mode }: OwnerScope,
  clock: Clock,
  input: WorkflowInput,
  via: CreatedVia,
): Promise<Workflow> {
  requireOwnChannels(input)
  const now = clock.now()
  const made = await tx
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
  return made as unknown as Workflow
}

/** Replaces the whole workflow. What was prepared for its mandates stays as it is. */
export async function replaceWorkflow(
  tx: Tx,
  scope: Changer,
  clock: Clock,
  id: string,
  input: WorkflowInput,
): Promise<Workflow> {
  const current = await lockWorkflow(tx, scope, id)
  requireMadeHere('workflow', current.created_via, scope)
  if (current.status === 'archived') throw problem('CONFLICT', 'An archived workflow cannot change.')
  requireOwnChannels(input)
  return updateWorkflow(tx, clock, id, settingsOf(input))
}

/** Archives it, for good; where it is archived already, nothing changes. */
export async function archiveWorkflow(tx: Tx, scope: Changer, clock: Clock, id: string): Promise<Workflow> {
  const current = await lockWorkflow(tx, scope, id)
  requireMadeHere('workflow', current.created_via, scope)
  if (current.status === 'archived') return current
  const mandates = (await countMandates(tx, [id])).get(id) ?? 0
  if (mandates > 0)
    throw problem(
      'WORKFLOW_IN_USE',
      `${mandates} ${mandates === 1 ? 'mandate uses' : 'mandates use'} this workflow; archive ${mandates === 1 ? 'it' : 'them'} first.`,
    )
  return updateWorkflow(tx, clock, id, { status: 'archived' })
}

export async function findWorkflow(tx: Queries, scope: OwnerScope, id: string): Promise<Workflow | undefined> {
  return (await workflowsOf(tx, scope).where('workflow_id', '=', id).executeTakeFirst()) as Workflow | undefined
}

export async function getWorkflow(tx: Queries, scope: OwnerScope, id: string): Promise<Workflow> {
  return (await findWorkflow(tx, scope, id)) ?? missing(id)
}

export interface WorkflowState extends Workflow {
  /** What PostgreSQL changes with every update of the row. */
  row: string
}

export async function readWorkflow(tx: Queries, scope: OwnerScope, id: string): Promise<WorkflowState | undefined> {
  const found = await workflowsOf(tx, scope)
    .select(sql<string>`xmin::text`.as('row'))
    .where('workflow_id', '=', id)
    .executeTakeFirst()
  return found as WorkflowState | undefined
}

/** Holds the workflow as it is: it is not archived before the transaction ends. Others may hold it at the same time. */
export async function holdWorkflow(tx: Tx, scope: OwnerScope, id: string): Promise<Workflow | undefined> {
  const found = await workflowsOf(tx, scope).where('workflow_id', '=', id).forKeyShare().executeTakeFirst()
  return found as Workflow | undefined
}

export interface WorkflowPage {
  /** The last workflow of the page before. */
  after?: string | undefined
  limit: number
}

/** Newest first. */
export async function listWorkflows(
  tx: Queries,
  scope: OwnerScope,
  { after, limit }: WorkflowPage,
): Promise<Workflow[]> {
  const found = await workflowsOf(tx, scope)
    .$if(after !== undefined, (query) => query.where('workflow_id', '<', after!))
    .orderBy('workflow_id', 'desc')
    .limit(limit)
    .execute()
  return found as unknown as Workflow[]
}

/** What partners are shown. */
export async function workflowRecords(tx: Queries, workflows: Workflow[]) {
  const counts = await countMandates(
    tx,
    workflows.map(({ workflow_id }) => workflow_id),
  )
  return workflows.map(({ description, created_at, updated_at, ...rest }) => ({
    ...rest,
    ...(description === null ? {} : { description }),
    mandates: counts.get(rest.workflow_id) ?? 0,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }))
}

/** In the order in which candidates meet them. */
export function inOrder(chosen: readonly Method[]): Method[] {
  return methods.filter((method) => chosen.includes(method))
}

function workflowsOf(tx: Queries, { orgId, mode }: OwnerScope) {
  return tx.selectFrom('workflows').select(columns).where('org_id', '=', orgId).where('mode', '=', mode)
}

async function lockWorkflow(tx: Tx, scope: OwnerScope, id: string): Promise<Workflow> {
  const found = await workflowsOf(tx, scope).where('workflow_id', '=', id).forUpdate().executeTakeFirst()
  return (found as Workflow | undefined) ?? missing(id)
}

async function updateWorkflow(tx: Tx, clock: Clock, id: string, change: object): Promise<Workflow> {
  const changed = await tx
    .updateTable('workflows')
    .set({ ...change, updated_at: new Date(clock.now()) })
    .where('workflow_id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
  return changed as unknown as Workflow
}

function settingsOf(input: WorkflowInput) {
  return {
    name: input.name,
    description: input.description ?? null,
    default_methods: inOrder(input.default_methods ?? methods),
    channels: input.channels ?? ['whatsapp'],
    languages: input.languages ?? ['en'],
    follow_ups: JSON.stringify(input.follow_ups ?? []),
  }
}

function requireOwnChannels({ channels = ['whatsapp'], follow_ups = [] }: WorkflowInput) {
  const details = follow_ups.flatMap(({ channel }, index) =>
    channels.includes(channel)
      ? []
      : [{ path: `follow_ups[${index}].channel`, message: "must be one of the workflow's channels" }],
  )
  if (details.length > 0) throw invalid(details)
}

function missing(id: string): never {
  throw problem('NOT_FOUND', `There is no workflow ${id}.`)
}
