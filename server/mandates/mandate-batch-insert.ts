import { CompiledQuery } from 'kysely'
import pg from 'pg'
import type { Caller } from '../access/caller.ts'
import { Problem } from '../api/problem.ts'
import type { Database } from '../platform/database/database.ts'
import { readWorkflow, type WorkflowState } from '../workflows/workflows.ts'
import { pendingNames } from './body.ts'
import type { Mandate } from './mandate-rows.ts'
import { acceptableBody, MANDATE_TO_PREPARE, newMandate, type Surroundings } from './mandates.ts'
import type { MandateInput } from './schema.ts'

const MOST_REMEMBERED = 1000

/** Connection failures and a server that stops: whether it was done is not known. */
const LOST = /^(08|57P)/

/** Statements under way at a time: while some are, the calls that come gather for the next. */
const MOST_STATEMENTS = 2
const MOST_ROWS = 100

/** What a new mandate is written with. */
const types = {
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

const names = Object.keys(types)

type NewMandate = ReturnType<typeof newMandate>

/** A mandate, and the state of the workflow that it was checked against. */
interface Creation {
  row: NewMandate
  seen: string
  done(made: boolean): void
  failed(error: unknown): void
}

/** Holds the workflows while they are what was remembered of them, and adds the mandates: all that creating takes, in one statement. */
const STATEMENT = `
  with made as (
    select * from json_to_recordset($1::json) as row(${Object.entries({ ...types, seen: 'xid' })
      .map(([name, type]) => `${name} ${type}`)
      .join(', ')})
  ), held as (
    select w.workflow_id, w.org_id, w.mode, w.xmin as seen from workflows w
    where w.status = 'active' and w.workflow_id in (select workflow_id from made)
    for key share
  )
  insert into mandates (${names.join(', ')})
  select ${names.map((name) => `made.${name}`).join(', ')} from made join held using (workflow_id, org_id, mode, seen)
  order by made.org_id, made.mode, made.job_id
  on conflict do nothing returning mandate_id`

/**
 * Most calls create a mandate for a workflow that was seen a moment ago and has not changed, and nothing stands against
 * them. For these one round trip to the database is enough, which calls that come together share. Whatever else is the case is
 * left to `createMandate`, which alone refuses: a workflow that this process remembers wrongly costs a statement, and never a
 * wrong answer.
 */
export class QuickCreation {
  private readonly db: Database
  /** By organisation, mode and id; the one seen longest ago is first. */
  private readonly workflows = new Map<string, WorkflowState>()
  private waiting: Creation[] = []
  private statements = 0

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
      const made = await this.insert(row, workflow.row)
      this.workflows.delete(key)
      if (!made) return undefined
      this.remember(key, workflow)
      this.db.tell(MANDATE_TO_PREPARE)
      const warnings = [...row.warnings, ...row.language_warnings]
      return { ...row, body, warnings, status: 'preparing', flow_version: 1, version: 1, failure: null }
    } catch (error) {
      if (error instanceof Problem) return undefined // perhaps because of what is remembered
      throw error
    }
  }

  /** False where the workflow is another by now, or the job has a mandate. */
  private insert(row: NewMandate, seen: string): Promise<boolean> {
    return new Promise((done, failed) => {
      this.waiting.push({ row, seen, done, failed })
      if (this.statements < MOST_STATEMENTS) void this.insertWaiting()
    })
  }

  private async insertWaiting(): Promise<void> {
    this.statements++
    while (this.waiting.length > 0) {
      const together = this.waiting.splice(0, MOST_ROWS)
      const rows = JSON.stringify(together.map(({ row, seen }) => ({ ...row, seen })))
      try {
        const result = await this.db.queries.executeQuery<{ mandate_id: string }>(CompiledQuery.raw(STATEMENT, [rows]))
        const made = new Set(result.rows.map(({ mandate_id }) => mandate_id))
        for (const { row, done } of together) done(made.has(row.mandate_id))
      } catch (error) {
        // What the database refused was not done: each call is examined on its own. Otherwise nobody knows.
        const refused = error instanceof pg.DatabaseError && !LOST.test(error.code ?? '')
        for (const { done, failed } of together) refused ? done(false) : failed(error)
      }
    }
    this.statements--
  }

  private remember(key: string, workflow: WorkflowState) {
    this.workflows.set(key, workflow)
    if (this.workflows.size > MOST_REMEMBERED) this.workflows.delete(this.workflows.keys().next().value!)
  }
}
