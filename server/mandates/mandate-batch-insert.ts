import { CompiledQuery } from 'kysely'
import type { Caller } from '../access/caller.ts'
import { Problem } from '../api/problem.ts'
import { BoundedMap } from '../platform/bounded-map.ts'
import { CallBatches, isOutcomeUnknown } from '../platform/database/call-batches.ts'
import type { Database } from '../platform/database/database.ts'
import { markOutcome } from '../platform/database/outage.ts'
import { runForAllOrganisations } from '../platform/database/tenant-scope.ts'
import { findWorkflowWithRowVersion, type WorkflowWithRowVersion } from '../workflows/workflows.ts'
import { pendingSkillNames } from './body.ts'
import type { Mandate } from './mandate-rows.ts'
import { acceptableBody, MANDATE_TO_PREPARE, type MandateDeps, newMandateRow } from './mandates.ts'
import type { MandateInput } from './schema.ts'

const MAX_CACHED_WORKFLOWS = 1000

/** Columns of a new mandate and their types. */
const columnTypes = {
  mandate_id: 'text',
  org_id: 'text',
  mode: 'text',
  workflow_id: 'text',
  job_id: 'text',
  created_via: 'text',
  created_at: 'timestamptz',
  status: 'text',
  methods: 'text[]',
  body: 'text',
  warnings: 'text[]',
  language_warnings: 'text[]',
  pending_skills: 'text[]',
  prepare_at: 'timestamptz',
  attempts: 'integer',
  updated_at: 'timestamptz',
} as const

const columnNames = Object.keys(columnTypes)

type NewMandateRow = ReturnType<typeof newMandateRow>

/** A mandate to insert, and the row version of the workflow it was checked against. */
interface PendingInsert {
  row: NewMandateRow
  workflowVersion: string
}

/** Workflows are compared by row version, so mandates of all organisations share a statement. */
const ALL_ORGANISATIONS = ''

/** Locks the workflows if they still have the cached version, and inserts the mandates, in one statement. */
const INSERT_STATEMENT = `
  with input as (
    select * from json_to_recordset($1::json) as row(${Object.entries({ ...columnTypes, workflow_version: 'xid' })
      .map(([name, type]) => `${name} ${type}`)
      .join(', ')})
  ), locked as (
    select w.workflow_id, w.org_id, w.mode, w.xmin as workflow_version from workflows w
    where w.status = 'active' and w.workflow_id in (select workflow_id from input)
    for key share
  )
  insert into mandates (${columnNames.join(', ')})
  select ${columnNames.map((name) => `input.${name}`).join(', ')} from input join locked using (workflow_id, org_id, mode, workflow_version)
  order by input.org_id, input.mode, input.job_id
  on conflict do nothing returning mandate_id`

/**
 * Fast path for creating mandates: most calls use a recently used, unchanged workflow and break no rule. Concurrent calls share one
 * statement and one round trip. All other cases, and all errors, are left to `createMandate`: a stale cache entry costs one
 * statement, but never gives a wrong response.
 */
export class MandateBatchInserter {
  private readonly db: Database
  /** Cached workflows by organisation, mode and ID; least recently used first. */
  private readonly workflows = new BoundedMap<string, WorkflowWithRowVersion>(MAX_CACHED_WORKFLOWS)
  private readonly inserts = new CallBatches<PendingInsert, boolean>((batch) =>
    runForAllOrganisations(() => this.insert(batch)),
  )

  constructor(db: Database) {
    this.db = db
  }

  /** Inserts a mandate and returns it, or returns undefined if nothing was inserted. */
  async create(
    caller: Caller,
    { clock, ...deps }: MandateDeps,
    { job_id, ...input }: MandateInput,
  ): Promise<Mandate | undefined> {
    // Idempotency records, dry runs and audit records need a transaction.
    if (caller.idempotencyKey !== undefined || caller.dryRun || caller.record) return undefined
    if (pendingSkillNames(input.skills).length > 0) return undefined
    const cacheKey = `${caller.orgId} ${caller.mode} ${input.workflow_id}`
    const workflow =
      this.workflows.get(cacheKey) ?? (await findWorkflowWithRowVersion(this.db.queries, caller, input.workflow_id))
    if (!workflow) return undefined
    try {
      const body = acceptableBody(caller, workflow, input, { skills: deps.skills, requestedNameKeys: new Set() })
      const row = newMandateRow(caller, workflow, body, { input, job_id, via: caller.via, deps, now: clock.now() })
      const wasInserted = await this.inserts.add(ALL_ORGANISATIONS, { row, workflowVersion: workflow.rowVersion })
      this.workflows.delete(cacheKey)
      if (!wasInserted) return undefined
      this.workflows.set(cacheKey, workflow)
      this.db.publish(MANDATE_TO_PREPARE)
      const warnings = [...row.warnings, ...row.language_warnings]
      return { ...row, body, warnings, status: 'preparing', flow_version: 1, version: 1, failure: null }
    } catch (error) {
      if (error instanceof Problem) return undefined // the cached workflow may be stale
      throw error
    }
  }

  /** Returns for each row whether it was inserted: its workflow has not changed, and its job has no mandate yet. */
  private async insert(batch: PendingInsert[]): Promise<boolean[]> {
    const rows = JSON.stringify(
      batch.map(({ row, workflowVersion }) => ({ ...row, workflow_version: workflowVersion })),
    )
    try {
      const result = await this.db.queries.executeQuery<{ mandate_id: string }>(
        CompiledQuery.raw(INSERT_STATEMENT, [rows]),
      )
      const insertedIds = new Set(result.rows.map(({ mandate_id }) => mandate_id))
      return batch.map(({ row }) => insertedIds.has(row.mandate_id))
    } catch (error) {
      // The statement commits by itself: without the mark, the response would say that nothing was changed.
      if (isOutcomeUnknown(error)) markOutcome(error, true)
      throw error
    }
  }
}
