import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { ADMIN_KEY, startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { CONSOLE_API, createTestSignInLink, OPERATOR_EMAIL, signIn, signInMember } from '../../test/support/console.ts'
import { until } from '../../test/support/until.ts'
import { queueEmail } from '../mail/mail.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../platform/clock.ts'
import { newId } from '../platform/ids.ts'
import { indianDate } from '../platform/india-time.ts'
import { eraseAuditValue, recordAuditEntry } from './audit.ts'
import { exportEntries, extendChain, findHead, findPublishedHead, publishHead, verifyChain } from './audit-chain.ts'

const startSharedApp = oncePerFile((t) => startApp(t, { worker: true }))

/** Returns the shared server an hour later, when all rate limits have been reset. */
async function setUp() {
  const app = await startSharedApp()
  app.clock.advance(HOUR)
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const operator = await signIn(app)
  return { app, orgId, owner, operator }
}

/** Returns the newest entries of all organisations that an operator sees. */
async function newestEntries(operator: Awaited<ReturnType<typeof signIn>>, limit = 20): Promise<any[]> {
  return (await operator.get(`/operator/audit?limit=${limit}`)).body.data.items
}

test('owners see which data of their organisation an operator read, once per page and 15 minutes', async () => {
  const { app, orgId, owner, operator } = await setUp()
  const candidateId = 'CD_01ARZ3NDEKTSV4RRFFQ69G5FAV'
  const readResults = () => operator.get(`/orgs/${orgId}/live/results`)
  assert.equal((await readResults()).status, 200)
  await readResults()
  await operator.get(`/orgs/${orgId}/live/phone/${candidateId}`)
  await operator.get(`/orgs/${orgId}/live/shifts`)
  await owner.get(`/orgs/${orgId}/live/results`)

  const listAccess = async () => (await owner.get(`/orgs/${orgId}/audit?actor=operator`)).body.data.items
  const entries = await listAccess()
  assert.deepEqual(
    entries.map(({ who, actor, action, mode, details }: any) => [who, actor, action, mode, details.route]),
    [
      [OPERATOR_EMAIL, 'operator', 'operator.read', 'live', '/phone/:candidate_id'],
      [OPERATOR_EMAIL, 'operator', 'operator.read', 'live', '/results'],
    ],
  )
  assert.equal(entries[0].subject, candidateId)
  assert.deepEqual([entries[0].address, entries[0].user_agent], [null, null], 'the operator’s address stays private')
  assert.equal((await newestEntries(operator))[0].address, '127.0.0.1')

  app.clock.advance(15 * MINUTE)
  await readResults()
  assert.equal((await listAccess()).length, 3)
})

test('reads of an operator who is a member of the organisation are not operator access', async () => {
  const { app, orgId, owner } = await setUp()
  const operator = await signInMember(app, orgId, 'viewer', OPERATOR_EMAIL)
  await operator.get(`/orgs/${orgId}/live/results`)
  assert.deepEqual((await owner.get(`/orgs/${orgId}/audit?actor=operator`)).body.data.items, [])
})

test('an unrecorded read returns no data', async () => {
  const { app, orgId, operator } = await setUp()
  const rename = (from: string, to: string) =>
    app.context.db.asOwner(({ pool }) => pool.query(`alter table ${from} rename to ${to}`))
  await rename('audit_log', 'audit_log_away')
  const firstResponse = await operator.get(`/orgs/${orgId}/live/results`)
  const secondResponse = await operator.get(`/orgs/${orgId}/live/results`)
  await rename('audit_log_away', 'audit_log')
  assert.deepEqual([firstResponse.status, secondResponse.status], [500, 500])
})

test('emails, exports and sessions are recorded with address, program and request ID', async () => {
  const { app, orgId, owner, operator } = await setUp()
  const { context } = app
  const mailId = await context.db.transaction((tx) =>
    queueEmail(tx, context, {
      kind: 'notice',
      to: { address: 'asha@example.com' },
      scope: { orgId, mode: 'live' },
      subject: 'Hello',
      text: 'Hello',
      html: '<p>Hello</p>',
    }),
  )
  await operator.get(`/operator/mails/${mailId}`)
  await operator.get(`/operator/mails/${mailId}/html`)
  await operator.get('/operator/mails?kind=notice')
  const { status, headers } = await owner.call(
    'GET',
    `/orgs/${orgId}/live/export/results.csv?status=completed`,
    undefined,
    { 'user-agent': 'Test browser' },
  )
  assert.equal(status, 200)
  const { items } = (await owner.get(`/orgs/${orgId}/audit`)).body.data
  assert.deepEqual(
    items.slice(0, 2).map(({ action, subject, who }: any) => [action, subject, who]),
    [
      ['results.export', null, owner.email],
      ['email.read', mailId, OPERATOR_EMAIL],
    ],
  )
  assert.deepEqual(items[0].details, { filters: { status: 'completed' } })
  assert.deepEqual(
    [items[0].address, items[0].user_agent, items[0].request_id],
    ['127.0.0.1', 'Test browser', headers.get('x-request-id')],
  )
  assert.equal(items.filter(({ action }: any) => action === 'email.read').length, 1)

  await owner.post('/sign-out')
  const [signOut, , emailList] = await newestEntries(operator)
  assert.deepEqual([signOut.action, signOut.who], ['session.end', owner.email])
  assert.deepEqual([emailList.action, emailList.details.kind], ['email.list', 'notice'])
})

test('the entries are filtered by person, kind of action, record and Indian day, and exported with the same filters', async () => {
  const { app, orgId } = await setUp()
  const who = 'asha@metro.example'
  const record = (action: string, subject: string, email = who) =>
    app.context.db.transaction((tx) => recordAuditEntry(tx, app.clock, { orgId, action, who: email, subject }))
  const firstDay = indianDate(app.clock.now())
  const midnight = Date.parse(`${firstDay}T00:00:00+05:30`) + DAY
  app.clock.set(new Date(midnight - 1).toISOString())
  await record('key.create', 'VFN_1')
  app.clock.set(new Date(midnight).toISOString())
  const secondDay = indianDate(app.clock.now())
  await record('POST /keys', 'VFN_2', 'Ravi@metro.example')
  await record('member.add', 'MB_1')
  app.clock.set(new Date(midnight + DAY).toISOString())
  await record('POST /mandates', 'JM_1')

  const owner = await signInMember(app, orgId, 'owner')
  const cases: [query: string, expected: string[]][] = [
    ['action=keys', ['POST /keys', 'key.create']],
    ['action=team&subject=MB_1', ['member.add']],
    ['action=jobs', ['POST /mandates']],
    ['action=webhooks', []],
    ['who=ravi@metro.example', ['POST /keys']],
    ['subject=MB_1', ['member.add']],
    [`who=${who}&to=${firstDay}`, ['key.create']],
    [`who=${who}&from=${secondDay}&to=${secondDay}`, ['member.add']],
    [`who=${who}&from=${secondDay}`, ['POST /mandates', 'member.add']],
    [`action=keys&from=${secondDay}`, ['POST /keys']],
  ]
  for (const [query, expected] of cases) {
    app.clock.advance(SECOND) // resets the rate limit of the session
    const { items, total } = (await owner.get(`/orgs/${orgId}/audit?${query}`)).body.data
    assert.deepEqual([items.map(({ action }: any) => action), total], [expected, expected.length], query)
    const exported = await owner.get(`/orgs/${orgId}/export/audit.csv?${query}`)
    const lines = String(exported.body).trim().split('\r\n').slice(1)
    assert.deepEqual(
      lines.map((line) => line.split(',')[5]),
      expected,
      query,
    )
  }
})

const postSignIn = (app: TestApp, path: string, body: object) =>
  app.fetch(`${CONSOLE_API}/sign-in/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'Guesser' },
    body: JSON.stringify(body),
  })

test('failed sign-ins are recorded with their source, and a flood of them is bounded', async () => {
  const { app, operator } = await setUp()
  await postSignIn(app, 'link', { token: 'guess' })
  await postSignIn(app, 'mail', { email: 'unknown@example.com' })
  await app.fetch('/api/admin/counts', { headers: { 'x-api-key': `${ADMIN_KEY}x` } })
  const link = await createTestSignInLink(app, 'nobody@example.com')
  await postSignIn(app, 'link', { token: link.split('#token=')[1]! })
  const failures = async () => (await newestEntries(operator, 100)).filter(({ action }) => action.endsWith('fail'))
  await until(async () => (await failures()).length === 4)
  assert.deepEqual(
    (await failures())
      .map(({ action, who, actor, address, user_agent, details }) =>
        [action, details.reason, details.email ?? '', who, actor, address, user_agent].join(', '),
      )
      .sort(),
    [
      'admin_key.fail, wrong key, , not signed in, visitor, 127.0.0.1, node',
      'session.fail, invalid link, , not signed in, visitor, 127.0.0.1, Guesser',
      'session.fail, no access, nobody@example.com, not signed in, visitor, 127.0.0.1, Guesser',
      'session.fail, unknown address, unknown@example.com, not signed in, visitor, 127.0.0.1, Guesser',
    ],
  )

  const countFailures = async () => {
    const { rows } = await app.context.db.pool.query(`select count(*)::int as count from audit_log where action = $1`, [
      'session.fail',
    ])
    return rows[0].count as number
  }
  app.clock.advance(HOUR)
  const countBefore = await countFailures()
  const failure = { action: 'session.fail', reason: 'invalid link', source: {}, requestId: 'r' } as const
  for (let n = 0; n < 200; n++) await app.context.audit.recordFailure(failure)
  assert.equal((await countFailures()) - countBefore, 60)
  app.clock.advance(MINUTE)
  await app.context.audit.recordFailure(failure)
  const [newest] = await newestEntries(operator, 1)
  assert.equal(newest.details.skipped, 140)
})

/** Disables the triggers, as a person with full access to the database could. */
async function tamper({ context }: TestApp, statement: string, values: unknown[] = []) {
  await context.db.asOwner(async ({ pool }) => {
    const tables = ['audit_log', 'audit_chain', 'audit_heads']
    for (const table of tables) await pool.query(`alter table ${table} disable trigger user`)
    await pool.query(statement, values)
    for (const table of tables) await pool.query(`alter table ${table} enable trigger user`)
  })
}

async function startWithEntries(t: Parameters<typeof startApp>[0]) {
  const app = await startApp(t)
  const { db } = app.context
  for (const name of ['first', 'second', 'third', 'fourth']) {
    app.clock.advance(MINUTE)
    await db.transaction((tx) =>
      recordAuditEntry(tx, app.clock, {
        who: `${name}@example.com`,
        action: 'member.add',
        subject: name,
        details: { email: 'asha@example.com', role: 'viewer' },
      }),
    )
  }
  await extendChain(db)
  const idOf = async (subject: string): Promise<string> =>
    (await db.pool.query('select audit_id from audit_log where subject = $1', [subject])).rows[0].audit_id
  const verify = (...heads: { position: number; hash: string }[]) => verifyChain(db.queries, heads)
  return { app, db, idOf, verify }
}

test('the chain detects every kind of change to the stored entries', async (t) => {
  const { app, db, idOf, verify } = await startWithEntries(t)
  const intact = await verify()
  assert.deepEqual([intact.entries, intact.broken, intact.erasedValues], [4, undefined, 0])
  const backup = await db.pool.query('select * from audit_log')
  assert.equal(backup.rows.length, 4)
  const second = await idOf('second')

  const changes: [string, RegExp][] = [
    ["update audit_log set action = 'member.remove' where audit_id = $1", /was changed/],
    ["update audit_log set at = at + interval '1 microsecond' where audit_id = $1", /was changed/],
    [`update audit_log set details = '{"role":"owner"}' where audit_id = $1`, /was changed/],
    ['update audit_log set org_id = null, actor = null where audit_id = $1', /was changed/],
    [
      `update audit_log set personal = jsonb_set(personal, '{who,value}', '"other@example.com"') where audit_id = $1`,
      /`who` was changed/,
    ],
    [`update audit_chain set hash = decode(repeat('00', 32), 'hex') where audit_id = $1`, /was changed/],
    ['delete from audit_log where audit_id = $1', /missing from the audit log/],
    ['delete from audit_chain where audit_id = $1', /missing from the chain/],
  ]
  for (const [statement, reason] of changes) {
    await tamper(app, statement, [second])
    const { broken, entries } = await verify()
    assert.match(broken!.reason, reason, statement)
    assert.equal(entries, 1, statement)
    assert.ok(broken!.audit_id !== undefined, statement)
    await restore()
  }
  assert.equal((await verify()).broken, undefined, 'after restoring the entries')

  async function restore() {
    await tamper(app, 'delete from audit_chain')
    await tamper(app, 'delete from audit_log')
    for (const row of backup.rows) {
      const columns = Object.keys(row)
      const values = columns.map((column) =>
        ['details', 'personal', 'commitments'].includes(column) ? JSON.stringify(row[column]) : row[column],
      )
      await db.pool.query(
        `insert into audit_log (${columns.join(', ')}) values (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
        values,
      )
    }
    await extendChain(db)
  }
})

test('published heads reveal removed newest entries and a rewritten chain', async (t) => {
  const { app, db, idOf, verify } = await startWithEntries(t)
  const outsideHead = (await findHead(db.queries))!
  await publishHead(app.context)
  assert.deepEqual(await findPublishedHead(db.queries), outsideHead)
  assert.ok(
    app.logLines.some((line) => line.includes('"audit head"') && line.includes(outsideHead.hash)),
    'the head is logged',
  )
  const metrics = (await app.fetch('/metrics')).body as string
  assert.match(metrics, new RegExp(`attestry_audit_head_info\\{position="4",hash="${outsideHead.hash}"\\} 1`))
  assert.match(metrics, /attestry_audit_entries 4/)

  const fourth = await idOf('fourth')
  await tamper(app, 'delete from audit_log where audit_id = $1', [fourth])
  await tamper(app, 'delete from audit_chain where audit_id = $1', [fourth])
  assert.match((await verify()).broken!.reason, /whose hash was published, are missing/)
  await tamper(app, 'delete from audit_heads')
  assert.equal((await verify()).broken, undefined, 'without the stored head, only an outside copy helps')
  assert.match((await verify(outsideHead)).broken!.reason, /whose hash was published, are missing/)

  await db.transaction((tx) => recordAuditEntry(tx, app.clock, { who: 'x@example.com', action: 'member.add' }))
  await extendChain(db)
  assert.equal((await verify()).broken, undefined)
  assert.match((await verify(outsideHead)).broken!.reason, /the chain was rewritten/)

  await tamper(app, 'delete from audit_chain where position = 4')
  assert.match((await verify()).broken!.reason, /was removed from the chain/)
})

test('a personal value can be erased without breaking the chain, and nothing else can be changed', async (t) => {
  const { app, db, verify } = await startWithEntries(t)
  const headBefore = await findHead(db.queries)
  assert.equal(await db.transaction((tx) => eraseAuditValue(tx, 'ASHA@example.com')), 4)
  assert.equal(await db.transaction((tx) => eraseAuditValue(tx, 'second@example.com')), 1)
  const report = await verify()
  assert.deepEqual([report.broken, report.erasedValues, report.head], [undefined, 5, headBefore])
  const { rows } = await db.pool.query('select to_jsonb(audit_log) as row from audit_log')
  const stored = JSON.stringify(rows)
  assert.ok(!stored.includes('asha@') && !stored.includes('second@') && stored.includes('first@'))
  const operator = await signIn(app)
  const { items } = (await operator.get('/operator/audit')).body.data
  const second = items.find(({ subject }: any) => subject === 'second')
  assert.deepEqual([second.who, second.details], ['erased', { role: 'viewer', email: 'erased' }])

  for (const statement of [
    `update audit_log set personal = jsonb_set(personal, '{who,value}', '"x"')`,
    `update audit_log set personal = personal || '{"x":null}'`,
    "update audit_log set personal = '{}' where subject = 'first'",
    `update audit_log set commitments = '{}'`,
    'delete from audit_chain',
    'truncate audit_chain',
    'delete from audit_log',
  ])
    await db.asOwner(({ pool }) => assert.rejects(pool.query(statement), /only ever added to/, statement))
})

async function readAll<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

test('an export contains everything that is needed to verify the chain elsewhere', async (t) => {
  const { db, app } = await startWithEntries(t)
  const entries = await readAll(exportEntries(db.queries, undefined))
  assert.deepEqual(
    entries.map(({ position }) => position),
    [1, 2, 3, 4],
  )
  const sortKeys = (value: unknown): unknown =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, member]) => [name, sortKeys(member)]),
        )
      : value
  let previous = '0'.repeat(64)
  for (const { hash, personal, ...entry } of entries) {
    assert.equal(entry.previous, previous)
    assert.equal(
      createHash('sha256')
        .update(JSON.stringify(sortKeys(entry)))
        .digest('hex'),
      hash,
    )
    const { value, salt } = personal.who!
    const commitment = createHash('sha256').update(Buffer.from(salt, 'hex')).update(value).digest('hex')
    assert.equal(entry.commitments.who, commitment)
    previous = hash
  }
  const sinceThird = await readAll(exportEntries(db.queries, app.clock.now() - MINUTE))
  assert.deepEqual(
    sinceThird.map(({ subject }) => subject),
    ['third', 'fourth'],
  )
})

test('an entry of a process that ended before it sent a notification is chained too', async () => {
  const { app } = await setUp()
  const { db } = app.context
  const isComplete = async () => (await db.pool.query('select 1 from audit_unchained')).rows.length === 0
  await until(isComplete)
  await db.asOwner(({ pool }) =>
    pool.query(`insert into audit_log (audit_id, at, action, details) values ($1, now(), 'test.unannounced', '{}')`, [
      newId('AU_', app.clock.now()),
    ]),
  )
  await until(isComplete)
})

test('entries of concurrent transactions are chained once, without gaps', async () => {
  const { app } = await setUp()
  const { db } = app.context
  await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      await db.transaction((tx) => recordAuditEntry(tx, app.clock, { who: 'x@example.com', action: `stress.${n}` }))
      if (n % 7 === 0) await extendChain(db)
    }),
  )
  await until(async () => (await db.pool.query('select 1 from audit_unchained')).rows.length === 0)
  const { broken } = await verifyChain(db.queries)
  assert.equal(broken, undefined)
  const { rows } = await db.pool.query(
    `select count(*)::int as count from audit_chain join audit_log using (audit_id) where action like 'stress.%'`,
  )
  assert.equal(rows[0].count, 60)
})
