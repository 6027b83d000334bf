import { CompiledQuery } from 'kysely'
import type { Caller } from '../access/caller.ts'
import type { Database } from '../platform/database.ts'
import { Problem } from '../platform/problem.ts'
import { readWorkflow, type WorkflowState } from '../workflows/workflows.ts'
import { pendingNames } from './body.ts'
import { acceptableBody, MANDATE_TO_PREPARE, type Mandate, newMandate, type Surroundings } from './mandates.ts'
import type { MandateInput } from './schema.ts'

const MOST_REMEMBERED = 1000

const names = [
  ...[
    'mandate_id',
    'org_id',
    'mode',
    'workflow_id',
    'job_id',
    'created_via',
    'created_at',
    'status',
    'methods',
    'body',
  ],
  ...['warnings', 'language_warnings', 'pending_skills', 'prepare_at', 'attempts', 'updated_at'],
] as const

/** PostgreSQL cannot tell the types of values that stand in a select; those not named are texts. */
const types: Partial<Record<(typeof names)[number], string>> = {
  created_at: 'timestamptz',
  prepare_at: 'timestamptz',
  updated_at: 'timestamptz',
  attempts: 'integer',
  methods: 'text[]',
  warnings: 'text[]',
  language_warnings: 'text[]',
  pending_skills: 'text[]',
}

/** Holds the workflow while it is what was remembered of it, and adds the mandate: all that creating takes, in one statement. */
const STATEMENT = `
  with held as (
    select from workflows where workflow_id = $4 and org_id = $2 and mode = $3 and status = 'active' and xmin = $${names.length + 1}::xid
    for key share
  )
  insert into mandates (${names.join(', ')})
  select ${names.map((name, index) => `$${index + 1}::${types[name] ?? 'text'}`).join(', ')} from held
  on conflict do nothing returning mandate_id`

/**
 * Most calls create a mandate for a workflow that was seen a moment ago and has not changed, and nothing stands against
 * them. For these one round trip to the database is enough. Whatever else is the case is left to `createMandate`, which
 * alone refuses: a workflow that this process remembers wrongly costs a statement, and never a wrong answer.
 */
export class QuickCreation {
  private readonly db: Database
  /** By organisation, mode and id; the one seen longest ago is first. */
  private readonly workflows = new Map<string, WorkflowState>()

  constructor(db: Database) {
    this.db = db
  }

  /** Undefined: nothing was done. */
  async create(
    caller: Caller,
    { clock, skills, writer }: Surroundings,
    { job_id, ...input }: MandateInput,
  ): Promise<Mandate | undefined> {
    // What is kept for retries, rehearsed or written down is done in a transaction with that.
    if (caller.idempotencyKey !== undefined || caller.dryRun || caller.record) return undefined
    if (pendingNames(input.skills).length > 0) return undefined
    const key = `${caller.orgId} ${caller.mode} ${input.workflow_id}`
    const workflow = this.workflows.get(key) ?? (await readWorkflow(this.db.queries, caller, input.workflow_id))
    if (!workflow) return undefined
    try {
      const body = acceptableBody(caller, workflow, input, { skills, requested: new Set() })
      const row = newMandate(caller, workflow, body, { input, job_id, via: caller.via, writer, now: clock.now() })
      const values = [...names.map((name) => row[name]), workflow.row]
      const { rows } = await this.db.queries.executeQuery(CompiledQuery.raw(STATEMENT, values))
      this.workflows.delete(key)
      if (rows.length === 0) return undefined
      this.remember(key, workflow)
      this.db.tell(MANDATE_TO_PREPARE)
      const warnings = [...row.warnings, ...row.language_warnings]
      return { ...row, body, warnings, status: 'preparing', flow_version: 1, version: 1, failure: null }
    } catch (error) {
      if (error instanceof Problem) return undefined // perhaps because of what is remembered
      throw error
    }
  }

  private remember(key: string, workflow: WorkflowState) {
    this.workflows.set(key, workflow)
    if (this.workflows.size > MOST_REMEMBERED) this.workflows.delete(this.workflows.keys().next().value!)
  }
}
