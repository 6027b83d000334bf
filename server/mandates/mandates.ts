import { sql } from 'kysely'
import { type Caller, type Changer, type OwnerScope, requireMadeHere } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { nameKey } from '../catalogue/names.ts'
import { holdOpenRequests } from '../catalogue/skill-requests.ts'
import { type Clock, HOUR } from '../platform/clock.ts'
import { announce, type Tx } from '../platform/database/database.ts'
import { invalid } from '../platform/http/validation.ts'
import { newId } from '../platform/ids.ts'
import type { QuestionWriter } from '../questions/questions.ts'
import { type CreatedVia, holdWorkflow, type Language, type Workflow } from '../workflows/workflows.ts'
import { isSame, type MandateBody, normalise, pendingNames, textOf } from './body.ts'
import { expectUntold, languageWarnings } from './languages.ts'
import { columns, lockMandate, type Mandate, read, updateMandate } from './mandate-rows.ts'
import { type KnownSkills, requireConsistency, requireLimits, warningsOf } from './rules.ts'
import type { MandateInput, MandateReplacement } from './schema.ts'

/** Announced when a transaction leaves a mandate to be prepared. */
export const MANDATE_TO_PREPARE = 'mandate to prepare'

const MOST_CHANGES = 10
/** Seconds: preparing takes less with the built-in writer. */
export const PREPARING_TAKES = 2

/** What the rules of a mandate lean on. */
export interface Surroundings {
  clock: Clock
  skills: KnownSkills
  writer: Pick<QuestionWriter, 'kind'>
}

/** The caller, as far as a mandate is concerned. */
export type MandateOwner = Changer & Partial<Pick<Caller, 'onBehalfOf'>>

/** Accepts a mandate. Its questions are prepared right afterwards. */
export async function createMandate(
  tx: Tx,
  owner: MandateOwner,
  { clock, skills, writer }: Surroundings,
  { job_id, ...input }: MandateInput,
  via: CreatedVia,
): Promise<Mandate> {
  const workflow = await holdWorkflow(tx, owner, input.workflow_id)
  if (!workflow)
    throw invalid([
      {
        path: 'workflow_id',
        message: "is not one of the organisation's workflows; GET /workflows lists those of this key's mode",
      },
    ])
  if (workflow.status === 'archived') throw problem('CONFLICT', 'The workflow is archived; choose another one.')
  const requested = await holdOpenRequests(tx, owner, pendingNames(input.skills))
  const body = acceptableBody(owner, workflow, input, { skills, requested })
  const made = await tx
    .insertInto('mandates')
    .values(newMandate(owner, workflow, body, { input, job_id, via, writer, now: clock.now() }))
    .onConflict((conflict) =>
      conflict
        .columns(['org_id', 'mode', 'job_id'])
        .where(sql<boolean>`job_id is not null and status <> 'archived'`)
        .doNothing(),
    )
    .returning(columns)
    .executeTakeFirst()
  if (!made)
    throw problem(
      'CONFLICT',
      `There is a mandate for the job ${job_id} already: GET /mandates?job_id= finds it. Change that one with PUT, or archive it first.`,
    )
  announce(tx, MANDATE_TO_PREPARE)
  return read(made)
}

/** The body as it is kept, if it breaks no rule; refused in the order that partners are promised. */
export function acceptableBody(
  { onBehalfOf }: MandateOwner,
  { default_methods: methods }: Pick<Workflow, 'default_methods'>,
  input: MandateReplacement,
  { skills, requested }: { skills: KnownSkills; requested: ReadonlySet<string> },
): MandateBody {
  const body = normalise(input, { methods, onBehalfOf })
  requireLimits(body)
  requireConsistency(body, { countries: input.countries, known: skills, requested })
  return body
}

interface Making {
  /** What the body was made of. */
  input: MandateReplacement
  job_id: string | undefined
  via: CreatedVia
  writer: Pick<QuestionWriter, 'kind'>
  now: number
}

/** The row of a mandate that is accepted now. */
export function newMandate(
  { orgId, mode }: OwnerScope,
  { workflow_id, languages }: Pick<Workflow, 'workflow_id' | 'languages'>,
  body: MandateBody,
  { input, job_id, via, writer, now }: Making,
) {
  return {
    mandate_id: newId('JM_', now),
    org_id: orgId,
    mode,
    workflow_id,
    job_id: job_id ?? null,
    created_via: via,
    created_at: new Date(now),
    ...contentOf(body, input, languages, writer, now),
  }
}

/** Replaces the whole mandate; sending the same again changes nothing. */
export async function replaceMandate(
  tx: Tx,
  owner: MandateOwner,
  { clock, skills, writer }: Surroundings,
  id: string,
  input: MandateReplacement,
): Promise<{ mandate: Mandate; changed: boolean }> {
  // Before the mandate, because whoever decides a request locks them in this order too.
  const requested = await holdOpenRequests(tx, owner, pendingNames(input.skills))
  const { current, texts, changes, workflow } = await lockMandate(tx, owner, id)
  requireMadeHere('mandate', current.created_via, owner)
  if (current.status === 'archived') throw problem('CONFLICT', 'An archived mandate cannot change.')
  if (current.status === 'preparing')
    throw problem(
      'CONFLICT',
      'The questions of this mandate are being prepared; send the change again after Retry-After.',
      {
        retryAfter: PREPARING_TAKES,
      },
    )
  if (input.workflow_id !== current.workflow_id)
    throw problem('CONFLICT', `This mandate follows ${current.workflow_id}, and cannot move to another workflow.`)
  const defaults = { methods: workflow.default_methods, onBehalfOf: owner.onBehalfOf }
  if (texts.some((text) => isSame(input, text, current.methods, defaults))) return { mandate: current, changed: false }
  const body = normalise(input, defaults)
  requireLimits(body)
  requireConsistency(body, { countries: input.countries, known: skills, requested })
  const now = clock.now()
  const recent = changes.filter((time) => time.getTime() > now - HOUR)
  if (recent.length >= MOST_CHANGES) {
    const retryAfter = Math.max(1, Math.ceil((recent.at(-MOST_CHANGES)!.getTime() + HOUR - now) / 1000))
    throw problem('CONFLICT', `A mandate changes at most ${MOST_CHANGES} times an hour.`, { retryAfter })
  }
  const mandate = await updateMandate(tx, id, {
    ...contentOf(body, input, workflow.languages, writer, now),
    flow_version: current.flow_version + 1,
    accepted_body: null,
    failure: null,
    changes: [...recent, new Date(now)],
  })
  announce(tx, MANDATE_TO_PREPARE)
  return { mandate, changed: true }
}

/** Prepares a mandate again whose questions could not be written. */
export async function retryMandate(tx: Tx, scope: Changer, clock: Clock, id: string): Promise<Mandate> {
  const { current } = await lockMandate(tx, scope, id)
  requireMadeHere('mandate', current.created_via, scope)
  if (current.status !== 'failed')
    throw problem('CONFLICT', `Only a failed mandate is prepared again; this one is ${current.status}.`)
  const now = new Date(clock.now())
  const change = { status: 'preparing', failure: null, attempts: 0, prepare_at: now, updated_at: now }
  const mandate = await updateMandate(tx, id, change)
  announce(tx, MANDATE_TO_PREPARE)
  return mandate
}

type Archiving = (tx: Tx, mandate: Mandate) => Promise<void>

const archiving = new Set<Archiving>()

/** Modules that stand above this one refuse here what must not be archived yet; it runs in the same transaction. */
export function onMandateArchiving(handler: Archiving): () => void {
  archiving.add(handler)
  return () => void archiving.delete(handler)
}

/** Archives it, for good; where it is archived already, nothing changes. */
export async function archiveMandate(
  tx: Tx,
  scope: Changer,
  clock: Clock,
  id: string,
): Promise<{ mandate: Mandate; changed: boolean }> {
  const { current } = await lockMandate(tx, scope, id)
  requireMadeHere('mandate', current.created_via, scope)
  if (current.status === 'archived') return { mandate: current, changed: false }
  for (const handle of archiving) await handle(tx, current)
  const mandate = await updateMandate(tx, id, { status: 'archived', updated_at: new Date(clock.now()) })
  return { mandate, changed: true }
}

/** The columns that a body fills, for a mandate that is to be prepared. */
export function contentOf(
  body: MandateBody,
  input: MandateReplacement,
  languages: Language[],
  writer: Pick<QuestionWriter, 'kind'>,
  now: number,
) {
  return {
    status: 'preparing',
    methods: body.methods,
    body: textOf(body, input),
    warnings: warningsOf(body),
    language_warnings: languageWarnings(expectUntold(body, languages, writer)),
    pending_skills: pendingNames(body.skills).map(nameKey),
    prepare_at: new Date(now),
    attempts: 0,
    updated_at: new Date(now),
  }
}
