import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { startApp } from '../../../test/support/app.ts'
import {
  aCandidate,
  type CampaignPartner,
  createCampaignPartner,
  createPartner,
} from '../../../test/support/partners.ts'
import { guardPartnerRoutes } from '../../access/partner-guards.ts'
import { PARTNER_BASE } from '../../api/envelope.ts'
import type { Context } from '../../context.ts'
import { MINUTE } from '../clock.ts'
import type { App } from '../http/server.ts'
import { currentRole, grantRowAccess, TABLES_WITHOUT_POLICY } from './row-access.ts'
import { runWithScope } from './tenant-scope.ts'

/** An external database of the tests has one role, which owns the tables and is exempt. */
const skip = process.env.TEST_EXTERNAL === '1'

/** Tables that get rows when candidates are enrolled, and do not have the columns `org_id` and `mode` or are written with a key. */
const CAMPAIGN_TABLES = [
  'analytics_candidates',
  'contacts',
  'idempotency_records',
  'mandate_flows',
  'people_days',
  'people_enrolled',
  'workflow_mandate_counts',
]

/** Adds partner routes whose queries lack the conditions on organisation and mode. */
function addRoutesWithoutConditions(app: App, context: Context) {
  const { db } = context
  app.register(
    async (routes: App) => {
      guardPartnerRoutes(routes, context)
      const config = { scope: null, limit: 'reads' } as const
      routes.get('/leaks/workflows', { config }, async () => ({
        items: await db.queries.selectFrom('workflows').select(['org_id', 'mode', 'name']).execute(),
      }))
      routes.get('/leaks/transaction', { config }, async () => ({
        items: await db.transaction((tx) => tx.selectFrom('workflows').select(['org_id', 'mode', 'name']).execute()),
      }))
      routes.post('/leaks/rename', { config }, async () => {
        const { numUpdatedRows } = await db.queries
          .updateTable('workflows')
          .set({ name: 'Renamed' })
          .executeTakeFirstOrThrow()
        return { updated: Number(numUpdatedRows) }
      })
      routes.post('/leaks/delete', { config }, async () => {
        const { numDeletedRows } = await db.transaction((tx) => tx.deleteFrom('workflows').executeTakeFirstOrThrow())
        return { deleted: Number(numDeletedRows) }
      })
      routes.post('/leaks/move', { config }, async (request) =>
        db.queries
          .updateTable('workflows')
          .set({ org_id: (request.body as { org_id: string }).org_id })
          .executeTakeFirstOrThrow(),
      )
      routes.get('/leaks/tables', { config }, async () => {
        const items: Record<string, number> = {}
        for (const table of CAMPAIGN_TABLES) {
          const { rows } = await sql<{ count: number }>`select count(*)::int as count from ${sql.table(table)}`.execute(
            db.queries,
          )
          items[table] = rows[0]!.count
        }
        return { items }
      })
      routes.post('/leaks/hold', { config }, async () => {
        const { numUpdatedRows } = await db.queries
          .updateTable('contacts')
          .set({ held: true })
          .executeTakeFirstOrThrow()
        return { updated: Number(numUpdatedRows) }
      })
      routes.post('/leaks/contact', { config }, async (request) => {
        const { campaign_id } = request.body as { campaign_id: string }
        const contact = { candidate_id: 'CD_OTHER', campaign_id, kind: 'contact', step: 0, held: true }
        await db.queries.insertInto('contacts').values(contact).execute()
        return {}
      })
    },
    { prefix: PARTNER_BASE },
  )
}

test('a query without its where clause sees, changes and deletes rows of its own organisation and mode only', {
  skip,
}, async (t) => {
  const { context, clock, fixtures, as } = await startApp(t, { extend: addRoutesWithoutConditions })
  const acme = await fixtures.createOrg('Acme Staffing')
  const metro = await fixtures.createOrg('Metro Staffing')
  const acmeTestKey = await fixtures.createPartnerKey(acme.orgId, { mode: 'test' })
  for (const [key, name] of [
    [acme.key, 'Acme live'],
    [acmeTestKey, 'Acme test'],
    [metro.key, 'Metro live'],
  ] as const)
    assert.equal((await as(key).post('/workflows', { name })).status, 201)

  // Requests of both organisations alternate on the same pooled connections.
  for (let round = 0; round < 3; round++) {
    for (const path of ['/leaks/workflows', '/leaks/transaction']) {
      clock.advance(MINUTE) // for the rate limits
      const responses = await Promise.all([acme.key, acmeTestKey, metro.key].map((key) => as(key).get(path)))
      assert.deepEqual(
        responses.map(({ body }) => body.items.map(({ name }: { name: string }) => name)),
        [['Acme live'], ['Acme test'], ['Metro live']],
        path,
      )
    }
  }
  assert.deepEqual((await as(acme.key).post('/leaks/rename', {})).body, { updated: 1 })
  assert.equal((await as(acme.key).post('/leaks/move', { org_id: metro.orgId })).status, 500)
  assert.deepEqual((await as(acmeTestKey).post('/leaks/delete', {})).body, { deleted: 1 })
  const names = await context.db.queries.selectFrom('workflows').select('name').orderBy('name').execute()
  assert.deepEqual(
    names.map(({ name }) => name),
    ['Metro live', 'Renamed'],
  )
})

test('a session that names no organisation sees no rows', { skip }, async (t) => {
  const { context, fixtures } = await startApp(t)
  await fixtures.createOrg()
  const client = new pg.Client({ connectionString: context.config.databaseUrl! })
  await client.connect()
  try {
    for (const table of ['organisations', 'partner_keys'])
      assert.deepEqual((await client.query(`select * from ${table}`)).rows, [], table)
  } finally {
    await client.end()
  }
})

test('the rows of an enrolment are limited through the row that they belong to', { skip }, async (t) => {
  const app = await startApp(t, { extend: addRoutesWithoutConditions })
  const acme = await createCampaignPartner(app)
  const metro = await createCampaignPartner(app)
  const acmeLive = await createPartner(app, 'live', acme.orgId)
  const enrol = async (partner: CampaignPartner, count: number): Promise<string> => {
    const { mandate_id } = await partner.createMandate()
    const candidates = Array.from({ length: count }, (_, index) => aCandidate(index))
    return (await partner.createCampaign(mandate_id, candidates)).campaign.campaign_id
  }
  const acmeCampaign = await enrol(acme, 2)
  const metroCampaign = await enrol(metro, 3)

  const countRows = async ({ get }: Pick<CampaignPartner, 'get'>) => (await get('/leaks/tables')).body.items
  const [acmeCounts, metroCounts] = [await countRows(acme), await countRows(metro)]
  for (const table of CAMPAIGN_TABLES) {
    assert.ok(acmeCounts[table] > 0, table)
    const { rows } = await app.context.db.pool.query(`select count(*)::int as count from ${table}`)
    assert.equal(acmeCounts[table] + metroCounts[table], rows[0].count, table)
  }
  assert.equal(acmeCounts.contacts, 2)
  assert.equal(metroCounts.contacts, 3)
  const noRows = Object.fromEntries(CAMPAIGN_TABLES.map((table) => [table, 0]))
  assert.deepEqual(await countRows(acmeLive), noRows, 'a LIVE key sees no TEST rows')

  assert.deepEqual((await acme.post('/leaks/hold', {})).body, { updated: 2 })
  assert.equal((await acme.post('/leaks/contact', { campaign_id: metroCampaign })).status, 500)
  assert.equal((await acme.post('/leaks/contact', { campaign_id: acmeCampaign })).status, 200)
})

test('every table has a policy, or a reason to have none', { skip }, async (t) => {
  const { context } = await startApp(t)
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
      and not (relrowsecurity and exists (select from pg_policy where polrelid = pg_class.oid))`.execute(
    context.db.queries,
  )
  assert.deepEqual(
    rows.map(({ name }) => name).sort(),
    Object.keys(TABLES_WITHOUT_POLICY).sort(),
    'add a new table to CHILD_TABLES or TABLES_WITHOUT_POLICY, or give it the column org_id',
  )
})

test('a policy that an older version created without a parent table is replaced at the next start', {
  skip,
}, async (t) => {
  const { context } = await startApp(t)
  const definition = async () => {
    const { rows } = await sql<{ text: string }>`
      select pg_get_expr(polqual, polrelid) as text from pg_policy where polrelid = 'key_uses'::regclass`.execute(
      context.db.queries,
    )
    return rows[0]!.text
  }
  const current = await definition()
  assert.match(current, /ats_keys/)
  await context.db.asOwner(async (owner) => {
    await sql`drop policy organisation on key_uses`.execute(owner.queries)
    await sql`create policy organisation on key_uses using (
      exists (select from partner_keys as parent where parent.key_id = key_uses.key_id))`.execute(owner.queries)
    await grantRowAccess(owner, await currentRole(context.db))
  })
  assert.equal(await definition(), current)
})

test('the functions that search in spite of the policies return rows of the organisation and mode only', {
  skip,
}, async (t) => {
  const app = await startApp(t)
  const { db } = app.context
  const first = await createCampaignPartner(app)
  const second = await createCampaignPartner(app)
  await db.asOwner(async ({ pool }) => {
    for (const [id, orgId, mode] of [
      ['1', first.orgId, 'test'],
      ['2', first.orgId, 'live'],
      ['3', second.orgId, 'test'],
    ]) {
      await pool.query(
        `insert into candidate_list (candidate_id, org_id, mode, campaign_id, mandate_id, result_id, status, to_call, enrolled_at, listed_at, tokens)
         values ('CD_' || $1::text, $2, $3, 'CP', 'JM', 'RS', 'pending', false, now(), now(), '{7}')`,
        [id, orgId, mode],
      )
      await pool.query(
        `insert into mails (mail_id, org_id, mode, kind, to_address, status, created_at, person_ids)
         values ('ML_' || $1::text, $2, $3, 'notice', '', 'kept', now(), '{PE_1}')`,
        [id, orgId, mode],
      )
      await pool.query(
        `insert into mandates (mandate_id, org_id, mode, workflow_id, status, methods, body, warnings, language_warnings, created_via,
           pending_skills, prepare_at, created_at, updated_at)
         values ('JM_' || $1::text, $2, $3, 'WF', 'ready', '{}', '{}', '{}', '{}', 'api', '{weaving}', now(), now(), now())`,
        [id, orgId, mode],
      )
      await pool.query(
        `with student as (
           insert into verification_students (user_id, org_id, mode, external_student_id, created_at)
           values ('US_' || $1::text, $2, $3, $1::text, now()))
         insert into verification_sessions (verification_id, org_id, mode, user_id, token_hash, status, student, items, skill_numbers,
           created_at, updated_at, expires_at)
         values ('VS_' || $1::text, $2, $3, 'US_' || $1::text, $1::text::bytea, 'open', '{}', '[]', '{1001}', now(), now(), now())`,
        [id, orgId, mode],
      )
    }
  })
  const find = async (orgId: string, mode: string) => {
    const { rows: candidates } = await sql<{ id: string }>`
      select candidates_with_tokens(${orgId}, ${mode}, '{7}') as id
      union select candidates_with_tokens_and_values(${orgId}, ${mode}, '{7}', '{CP,pending}')
      union select candidate_id from candidate_matches(${orgId}, ${mode}, '{7}', null, '{}', true, null, null, null, 10)
      union select candidate_id from candidate_matches(${orgId}, ${mode}, '{1}', '{7}', '{CP}', false, 'none', '{CP}', null, 10)
      union select candidate_id from candidate_matches(${orgId}, ${mode}, null, null, '{CP}', false, null, null, null, 10)`.execute(
      db.queries,
    )
    const { rows: mails } = await sql<{ id: string }>`select mails_of_person('PE_1') as id order by id`.execute(
      db.queries,
    )
    const { rows: mandates } = await sql<{ id: string }>`
      select mandates_with_pending_skill('weaving') as id order by id`.execute(db.queries)
    const { rows: sessions } = await sql<{ id: string }>`
      select sessions_with_skill(1001) as id order by id`.execute(db.queries)
    return [...candidates, ...mails, ...mandates, ...sessions].map(({ id }) => id)
  }
  const asFirst = <T>(work: () => Promise<T>) => runWithScope({ scope: { orgId: first.orgId, mode: 'test' } }, work)
  // The search for emails includes both modes, because a person is one in both.
  const ofFirst = ['ML_1', 'ML_2', 'JM_1', 'VS_1']
  assert.deepEqual(await asFirst(() => find(first.orgId, 'test')), ['CD_1', ...ofFirst])
  assert.deepEqual(await asFirst(() => find(first.orgId, 'live')), ofFirst)
  assert.deepEqual(await asFirst(() => find(second.orgId, 'test')), ofFirst)
  const ofAll = ['ML', 'JM', 'VS'].flatMap((prefix) => [1, 2, 3].map((id) => `${prefix}_${id}`))
  assert.deepEqual(await find(second.orgId, 'test'), ['CD_3', ...ofAll])
})

test('a database with functions of other programs starts, and the role of the server gets no access to them', {
  skip,
}, async (t) => {
  const { context } = await startApp(t)
  const role = await currentRole(context.db)
  await context.db.asOwner(async (owner) => {
    const execute = (text: string) => owner.pool.query(text)
    await execute(`create extension pg_stat_statements schema public`).catch(() =>
      t.diagnostic('no pg_stat_statements'),
    )
    await execute(`create procedure reset_report() language sql as 'select 1'`)
    await execute('revoke execute on procedure reset_report from public')
    await grantRowAccess(owner, role)
    const { rows } = await owner.pool.query(
      `select proname from pg_proc where pronamespace = 'public'::regnamespace and not has_function_privilege($1, oid, 'execute')`,
      [role],
    )
    assert.ok(rows.some(({ proname }) => proname === 'reset_report'))
  })
})
