import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { addThings, countThings, createThingsTable, type ThingsOptions } from '../../test/support/sample-resource.ts'
import { HOUR } from '../platform/clock.ts'
import { deleteOldRecords } from './idempotency.ts'

async function startThings(t: TestContext, options: ThingsOptions = {}) {
  const app = await startApp(t, { extend: (server, context) => addThings(server, context, options) })
  await createThingsTable(app.context)
  const { orgId, key } = await app.given.org()
  // Raised, so that the limits do not get in the way of what is tested here.
  await app.context.db.queries
    .updateTable('partner_keys')
    .set({
      limits: JSON.stringify({
        buckets: { mandateWrites: { rate: 1000, burst: 1000, minute: 10_000 }, key: { burst: 1000 } },
      }),
    })
    .execute()
  await app.context.keyring.refresh()
  return { ...app, orgId, key }
}

test('a retry gets the first answer back and has no effect of its own', async (t) => {
  const { as, key, context } = await startThings(t)
  const first = await as(key).post('/things', { name: 'one' }, { idempotencyKey: 'k-1' })
  const again = await as(key).post('/things', { name: 'one' }, { idempotencyKey: 'k-1' })
  assert.equal(first.status, 201)
  assert.equal(first.headers.get('idempotency-replayed'), null)
  assert.equal(again.status, 201)
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(again.body, first.body)
  assert.equal(await countThings(context), 1)
})

test('without the header every call has its effect', async (t) => {
  const { as, key, context } = await startThings(t)
  await as(key).post('/things', { name: 'one' })
  await as(key).post('/things', { name: 'one' })
  assert.equal(await countThings(context), 2)
})

test('fifty calls at once with one key have one effect', async (t) => {
  const { as, key, context } = await startThings(t, { pause: () => new Promise((resolve) => setTimeout(resolve, 30)) })
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => as(key).post('/things', { name: 'one' }, { idempotencyKey: 'k-1' })),
  )
  assert.equal(await countThings(context), 1)
  const made = answers.filter(({ status }) => status === 201)
  const turnedAway = answers.filter(({ status }) => status === 409)
  assert.equal(made.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1)
  assert.equal(made.length + turnedAway.length, 50)
  for (const { body, headers } of turnedAway) {
    assert.equal(body.error.code, 'IDEMPOTENCY_IN_PROGRESS')
    assert.equal(headers.get('retry-after'), '1')
  }
})

test('another method, path or body with the same key is refused and changes nothing', async (t) => {
  const { as, key, context } = await startThings(t)
  await as(key).post('/things', { name: 'one' }, { idempotencyKey: 'k-1' })
  for (const call of [
    () => as(key).post('/things', { name: 'two' }, { idempotencyKey: 'k-1' }),
    () => as(key).post('/paid-things', { name: 'one' }, { idempotencyKey: 'k-1' }),
  ]) {
    const { status, body } = await call()
    assert.equal(status, 422)
    assert.equal(body.error.code, 'IDEMPOTENCY_KEY_REUSED')
  }
  assert.equal(await countThings(context), 1)
})

test('keys are scoped to the API key', async (t) => {
  const { as, key, given, orgId, context } = await startThings(t)
  const other = await given.key(orgId)
  await as(key).post('/things', { name: 'one' }, { idempotencyKey: 'k-1' })
  const { status, headers } = await as(other).post('/things', { name: 'two' }, { idempotencyKey: 'k-1' })
  assert.equal(status, 201)
  assert.equal(headers.get('idempotency-replayed'), null)
  assert.equal(await countThings(context), 2)
})

test('a refusal by a business rule is kept, without its effect', async (t) => {
  const { as, key, context } = await startThings(t)
  const first = await as(key).post('/things', { name: 'conflict' }, { idempotencyKey: 'k-1' })
  const again = await as(key).post('/things', { name: 'conflict' }, { idempotencyKey: 'k-1' })
  assert.equal(first.status, 409)
  assert.equal(again.status, 409)
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(again.body, first.body)
  assert.equal(await countThings(context), 0)
})

for (const [name, status] of [
  ['later', 409],
  ['poor', 402],
  ['broken', 500],
] as const) {
  test(`an answer that a retry may better is not kept: ${name} (${status})`, async (t) => {
    const { as, key, context } = await startThings(t)
    for (let attempt = 0; attempt < 2; attempt++) {
      const answer = await as(key).post('/things', { name }, { idempotencyKey: 'k-1' })
      assert.equal(answer.status, status)
      assert.equal(answer.headers.get('idempotency-replayed'), null)
    }
    assert.equal((await as(key).post('/things', { name: 'fine' }, { idempotencyKey: 'k-1' })).status, 201)
    assert.equal(await countThings(context), 1)
  })
}

test('answers are kept 24 hours, then the key is free again', async (t) => {
  const { as, key, clock, context } = await startThings(t)
  await as(key).post('/things', { name: 'one' }, { idempotencyKey: 'k-1' })
  clock.advance(24 * HOUR - 1)
  assert.equal(
    (await as(key).post('/things', { name: 'one' }, { idempotencyKey: 'k-1' })).headers.get('idempotency-replayed'),
    'true',
  )
  clock.advance(1)
  const { status, headers } = await as(key).post('/things', { name: 'two' }, { idempotencyKey: 'k-1' })
  assert.equal(status, 201)
  assert.equal(headers.get('idempotency-replayed'), null)
  assert.equal(await countThings(context), 2)
})

test('old records are deleted, younger ones stay', async (t) => {
  const { as, key, clock, context } = await startThings(t)
  await as(key).post('/things', { name: 'one' }, { idempotencyKey: 'old' })
  clock.advance(24 * HOUR)
  await as(key).post('/things', { name: 'two' }, { idempotencyKey: 'young' })
  await context.db.transaction((tx) => deleteOldRecords(tx, clock.now()))
  const kept = await context.db.queries.selectFrom('idempotency_records').select('idempotency_key').execute()
  assert.deepEqual(kept, [{ idempotency_key: 'young' }])
})

test('a call that spends credits insists on the header', async (t) => {
  const { as, key, context } = await startThings(t)
  const { status, body } = await as(key).post('/paid-things', { name: 'one' })
  assert.equal(status, 400)
  assert.equal(body.error.code, 'IDEMPOTENCY_KEY_REQUIRED')
  assert.equal(body.error.details[0].path, 'headers.Idempotency-Key')
  assert.equal(await countThings(context), 0)
  const both = await as(key).post('/paid-things', { nome: 'one' })
  assert.equal(both.body.error.code, 'VALIDATION_FAILED', 'the schema comes first')
  assert.equal((await as(key).post('/paid-things', { name: 'one' }, { idempotencyKey: true })).status, 201)
})

test('the header is 1 to 255 printable characters', async (t) => {
  const { as, key } = await startThings(t)
  assert.equal((await as(key).post('/things', { name: 'x' }, { idempotencyKey: 'k'.repeat(255) })).status, 201)
  const long = await as(key).post('/things', { name: 'x' }, { idempotencyKey: 'k'.repeat(256) })
  assert.equal(long.status, 400)
  assert.deepEqual(long.body.error.details, [
    { path: 'headers.Idempotency-Key', message: 'must be 1 to 255 printable characters' },
  ])
  assert.equal((await as(key).post('/things', { name: 'x' }, { headers: { 'idempotency-key': '' } })).status, 400)
})

test('a kept answer that holds a secret is encrypted at rest', async (t) => {
  const { as, key, context } = await startThings(t)
  const first = await as(key).post('/things', { name: 'secret' }, { idempotencyKey: 'k-1' })
  assert.equal(first.body.data.secret, 'whsec_very')
  const row = await context.db.queries.selectFrom('idempotency_records').selectAll().executeTakeFirstOrThrow()
  assert.equal(row.body, null)
  assert.ok(!row.sealed_body!.includes('whsec_very'))
  const again = await as(key).post('/things', { name: 'secret' }, { idempotencyKey: 'k-1' })
  assert.deepEqual(again.body, first.body)
})
