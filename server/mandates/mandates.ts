import { sql } from 'kysely'
import { type Caller, type OrgScope, requireCreatedVia, type WriteScope } from '../access/caller.ts'
import { invalid } from '../api/invalid.ts'
import { problem } from '../api/problem.ts'
import { nameKey } from '../catalogue/names.ts'
import { lockOpenRequestsForShare } from '../catalogue/skill-requests.ts'
import { type Clock, formatWait, HOUR } from '../platform/clock.ts'
import { notifyAfterCommit, type Tx } from '../platform/database/database.ts'
import { defineHook } from '../platform/hook.ts'
import { newId } from '../platform/ids.ts'
import type { Language } from '../platform/text/languages.ts'
import type { CreatedVia } from '../workflows/enums.ts'
import { lockWorkflowForUse, type Workflow } from '../workflows/workflows.ts'
import { isSameMandate, type MandateBody, normaliseMandate, pendingSkillNames, storedText } from './body.ts'
import { type LanguagePredictionDeps, languageWarnings, predictMissingLanguages } from './languages.ts'
import { lockMandate, type Mandate, mandateColumns, mandateFromRow, updateMandate } from './mandate-rows.ts'
import { requireConsistency, requireWithinLimits, type VerifiableSkills, warningsOf } from './rules.ts'
import type { MandateInput, MandateReplacement } from './schema.ts'

/** Notification topic: a mandate needs preparation. */
export const MANDATE_TO_PREPARE = 'mandate to prepare'

const MAX_CHANGES_PER_HOUR = 10
/** Upper bound of the preparation time with the built-in writer. */
export const MAX_PREPARATION_SECONDS = 2

/** Dependencies of the mandate rules. */
export interface MandateDeps extends LanguagePredictionDeps {
  clock: Clock
}

/** The caller properties that mandates use. */
export type MandateCaller = WriteScope & Partial<Pick<Caller, 'onBehalfOf'>>

/** Creates a mandate. Its questions are prepared in the background. */
export async function createMandate(
  tx: Tx,
  caller: MandateCaller,
  { clock, ...deps }: MandateDeps,
  { job_id, ...input }: MandateInput,
  via: CreatedVia,
): Promise<Mandate> {
  const workflow = await lockWorkflowForUse(tx, caller, input.workflow_id)
  if (!workflow)
    throw invalid([
      {
        path: 'workflow_id',
        message: 'is not a workflow of this organisation and mode; find workflow IDs with GET /workflows',
      },
    ])
  if (workflow.status === 'archived') throw problem('CONFLICT', 'The workflow is archived; choose another workflow.')
  const requestedNameKeys = await lockOpenRequestsForShare(tx, caller, pendingSkillNames(input.skills))
  const body = acceptableBody(caller, workflow, input, { skills: deps.skills, requestedNameKeys })
  const row = await tx
    .insertInto('mandates')
    .values(newMandateRow(caller, workflow, body, { input, job_id, via, deps, now: clock.now() }))
    .onConflict((conflict) =>
      conflict
        .columns(['org_id', 'mode', 'job_id'])
        .where(sql<boolean>`job_id is not null and status <> 'archived'`)
        .doNothing(),
    )
    .returning(mandateColumns)
    .executeTakeFirst()
  if (!row)
    throw problem(
      'CONFLICT',
      `A mandate for job ${job_id} already exists. Find it with GET /mandates?job_id=…, then change it with PUT or archive it first.`,
    )
  notifyAfterCommit(tx, MANDATE_TO_PREPARE)
  return mandateFromRow(row)
}

/** Returns the normalised mandate body, or throws an error for the first violated rule in the documented order. */
export function acceptableBody(
  { onBehalfOf }: MandateCaller,
  { default_methods: methods }: Pick<Workflow, 'default_methods'>,
  input: MandateReplacement,
  { skills, requestedNameKeys }: { skills: VerifiableSkills; requestedNameKeys: ReadonlySet<string> },
): MandateBody {
  const body = normaliseMandate(input, { methods, onBehalfOf })
  requireWithinLimits(body)
  requireConsistency(body, { countries: input.countries, loadedSkills: skills, requestedNameKeys })
  return body
}

interface NewMandateOptions {
  /** The input from which the mandate body was built. */
  input: MandateReplacement
  job_id: string | undefined
  via: CreatedVia
  deps: LanguagePredictionDeps
  now: number
}

/** Builds the row of a new mandate. */
export function newMandateRow(
  { orgId, mode }: OrgScope,
  { workflow_id, languages }: Pick<Workflow, 'workflow_id' | 'languages'>,
  body: MandateBody,
  { input, job_id, via, deps, now }: NewMandateOptions,
) {
  return {
    mandate_id: newId('JM_', now),
    org_id: orgId,
    mode,
    workflow_id,
    job_id: job_id ?? null,
    created_via: via,
    created_at: new Date(now),
    ...bodyColumns(body, input, languages, via, deps, now),
  }
}

/** Replaces the whole mandate. Sending the same request body again changes nothing. */
export async function replaceMandate(
  tx: Tx,
  caller: MandateCaller,
  { clock, ...deps }: MandateDeps,
  id: string,
  input: MandateReplacement,
): Promise<{ mandate: Mandate; changed: boolean }> {
  // Lock skill requests before the mandate, in the same order as resolving a skill request does, to avoid deadlocks.
  const requestedNameKeys = await lockOpenRequestsForShare(tx, caller, pendingSkillNames(input.skills))
  const { current, storedBodies, changes, workflow } = await lockMandate(tx, caller, id)
  requireCreatedVia('mandate', current.created_via, caller)
  if (current.status === 'archived') throw problem('CONFLICT', 'An archived mandate cannot be changed.')
  if (current.status === 'preparing')
    throw problem(
      'CONFLICT',
      'The questions of this mandate are being prepared. Try again after the time in the Retry-After header.',
      {
        retryAfter: MAX_PREPARATION_SECONDS,
      },
    )
  if (input.workflow_id !== current.workflow_id)
    throw problem(
      'CONFLICT',
      `This mandate uses workflow ${current.workflow_id}; a mandate cannot change its workflow.`,
    )
  const defaults = { methods: workflow.default_methods, onBehalfOf: caller.onBehalfOf }
  if (storedBodies.some((stored) => isSameMandate(input, stored, current.methods, defaults)))
    return { mandate: current, changed: false }
  const body = acceptableBody(caller, workflow, input, { skills: deps.skills, requestedNameKeys })
  const now = clock.now()
  const recentChanges = changes.filter((time) => time.getTime() > now - HOUR)
  if (recentChanges.length >= MAX_CHANGES_PER_HOUR) {
    const retryAfter = Math.max(1, Math.ceil((recentChanges.at(-MAX_CHANGES_PER_HOUR)!.getTime() + HOUR - now) / 1000))
    throw problem(
      'CONFLICT',
      `A mandate can be changed at most ${MAX_CHANGES_PER_HOUR} times per hour. Try again in ${formatWait(retryAfter)}.`,
      {
        retryAfter,
      },
    )
  }
  const mandate = await updateMandate(tx, id, {
    ...bodyColumns(body, input, workflow.languages, current.created_via, deps, now),
    flow_version: current.flow_version + 1,
    accepted_body: null,
    failure: null,
    changes: [...recentChanges, new Date(now)],
  })
  notifyAfterCommit(tx, MANDATE_TO_PREPARE)
  return { mandate, changed: true }
}

/** Retries the preparation of a failed mandate. */
export async function retryMandate(tx: Tx, scope: WriteScope, clock: Clock, id: string): Promise<Mandate> {
  const { current } = await lockMandate(tx, scope, id)
  requireCreatedVia('mandate', current.created_via, scope)
  if (current.status !== 'failed')
    throw problem('CONFLICT', `Only failed mandates can be retried; this mandate is ${current.status}.`)
  const now = new Date(clock.now())
  const change = { status: 'preparing', failure: null, attempts: 0, prepare_at: now, updated_at: now }
  const mandate = await updateMandate(tx, id, change)
  notifyAfterCommit(tx, MANDATE_TO_PREPARE)
  return mandate
}

/** Runs before a mandate is archived; a handler throws to prevent it. */
export const beforeMandateArchived =
  defineHook<[tx: Tx, mandate: Mandate]>('beforeMandateArchived').handledBy('campaigns')

/** Archives the mandate permanently. Archiving again changes nothing. */
export async function archiveMandate(
  tx: Tx,
  scope: WriteScope,
  clock: Clock,
  id: string,
): Promise<{ mandate: Mandate; changed: boolean }> {
  const { current } = await lockMandate(tx, scope, id)
  requireCreatedVia('mandate', current.created_via, scope)
  if (current.status === 'archived') return { mandate: current, changed: false }
  await beforeMandateArchived.run(tx, current)
  const mandate = await updateMandate(tx, id, { status: 'archived', updated_at: new Date(clock.now()) })
  return { mandate, changed: true }
}

/** Builds the columns that depend on the mandate body, with the status `preparing`. */
function bodyColumns(
  body: MandateBody,
  input: MandateReplacement,
  languages: Language[],
  createdVia: CreatedVia,
  deps: LanguagePredictionDeps,
  now: number,
) {
  return {
    status: 'preparing',
    methods: body.methods,
    body: storedText(body, input),
    warnings: warningsOf(body),
    language_warnings: languageWarnings(predictMissingLanguages(body, languages, createdVia, deps)),
    pending_skills: pendingSkillNames(body.skills).map(nameKey),
    prepare_at: new Date(now),
    attempts: 0,
    updated_at: new Date(now),
  }
}
