import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { aMandate, startApp } from '../../test/support/app.ts'
import { createPartner } from '../../test/support/partners.ts'
import { until } from '../../test/support/until.ts'

test('concurrent calls share statements, and each gets its own response', async (t) => {
  const app = await startApp(t)
  const { fixtures, context } = app
  const orgs = [await createPartner(app), await createPartner(app)]
  const workflows = await Promise.all(orgs.map(({ scope }) => fixtures.createWorkflow(scope)))
  const create = (orgIndex: number, change: object) => {
    const body = { ...aMandate(workflows[orgIndex]!.workflow_id), ...change }
    return orgs[orgIndex]!.post('/mandates', body)
  }
  // Cache both workflows first, so that the calls below use the fast path.
  for (const org of [0, 1]) assert.equal((await create(org, { title: 'First' })).status, 202)

  const calls = Array.from({ length: 16 }, (_, number) => [
    create(0, { title: `Job ${number}`, job_id: `job-${number % 12}`, description: 'नल की "मरम्मत" \\ और\nwiring' }),
    create(1, { title: `Job ${number}`, job_id: `job-${number}` }),
    create(1, { workflow_id: workflows[0]!.workflow_id }),
  ]).flat()
  const responses = await Promise.all(calls)
  const statusesOfKind = (kind: number) =>
    responses.filter((_, index) => index % 3 === kind).map(({ status }) => status)
  assert.deepEqual(statusesOfKind(0).sort(), [...Array(12).fill(202), ...Array(4).fill(409)], 'one mandate per job')
  assert.deepEqual(new Set(statusesOfKind(1)), new Set([202]), 'job IDs of another organisation do not conflict')
  assert.deepEqual(new Set(statusesOfKind(2)), new Set([400]), "another organisation's workflow is unknown")

  const storedMandates = await context.db.queries
    .selectFrom('mandates')
    .select(['mandate_id', 'org_id', 'job_id', 'body'])
    .where('job_id', 'is not', null)
    .execute()
  const acceptedMandates = responses.filter(({ status }) => status === 202).map(({ body }) => body.data)
  assert.deepEqual(
    storedMandates.map(({ mandate_id, job_id }) => `${mandate_id} ${job_id}`).sort(),
    acceptedMandates.map(({ mandate_id, job_id }) => `${mandate_id} ${job_id}`).sort(),
  )
  const [firstOrgMandate] = storedMandates.filter(({ org_id }) => org_id === orgs[0]!.orgId)
  assert.equal(JSON.parse(firstOrgMandate!.body).description, 'नल की "मरम्मत" \\ और\nwiring')
})

test('a call whose connection is lost during the insert is not repeated, and its response does not suggest a retry', async (t) => {
  const app = await startApp(t)
  const { db } = app.context
  const { post, scope } = await createPartner(app)
  const { workflow_id } = await app.fixtures.createWorkflow(scope)
  const create = (job_id: string) => post('/mandates', { ...aMandate(workflow_id), job_id })
  assert.equal((await create('first')).status, 202)

  // A lock on the workflow makes the insert wait, so that its connection can be closed while it runs.
  const { call } = await db.transaction(async (tx) => {
    await sql`select from workflows where workflow_id = ${workflow_id} for update`.execute(tx)
    const call = create('lost')
    await until(async () => {
      const { rows } = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query like '%insert into mandates%' and wait_event_type = 'Lock'`.execute(
        db.queries,
      )
      return rows.length > 0
    })
    return { call }
  })
  const { status, headers, body } = await call
  assert.deepEqual([status, body.error.code, headers.get('retry-after')], [503, 'SERVICE_UNAVAILABLE', null])
  assert.match(body.error.message, /may have taken effect/)
  // On another connection: the pool may still contain the one that was closed.
  const rows = await db.asOwner((owner) => owner.queries.selectFrom('mandates').select('job_id').execute())
  assert.deepEqual(rows, [{ job_id: 'first' }])
})
