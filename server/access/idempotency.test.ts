import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import {
  addSampleResource,
  countSamples,
  createSampleTable,
  type SampleResourceOptions,
} from '../../test/support/sample-resource.ts'
import { HOUR } from '../platform/clock.ts'
import { deleteOldIdempotencyRecords } from './idempotency.ts'

async function startSampleApp(t: TestContext, options: SampleResourceOptions = {}) {
  const app = await startApp(t, { extend: (server, context) => addSampleResource(server, context, options) })
  await createSampleTable(app.context)
  const { orgId, key } = await app.fixtures.createOrg()
  // Raised so that rate limits do not affect the tests.
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

test('a retry receives the first response and has no effect', async (t) => {
  const { as, key, context } = await startSampleApp(t)
  const firstResponse = await as(key).post('/samples', { name: 'one' }, { idempotencyKey: 'k-1' })
  const retryResponse = await as(key).post('/samples', { name: 'one' }, { idempotencyKey: 'k-1' })
  assert.equal(firstResponse.status, 201)
  assert.equal(firstResponse.headers.get('idempotency-replayed'), null)
  assert.equal(retryResponse.status, 201)
  assert.equal(retryResponse.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(retryResponse.body, firstResponse.body)
  assert.equal(await countSamples(context), 1)
})

test('without an Idempotency-Key, every call takes effect', async (t) => {
  const { as, key, context } = await startSampleApp(t)
  await as(key).post('/samples', { name: 'one' })
  await as(key).post('/samples', { name: 'one' })
  assert.equal(await countSamples(context), 2)
})

test('fifty concurrent calls with the same Idempotency-Key take effect once', async (t) => {
  const { as, key, context } = await startSampleApp(t, {
    pause: () => new Promise((resolve) => setTimeout(resolve, 30)),
  })
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => as(key).post('/samples', { name: 'one' }, { idempotencyKey: 'k-1' })),
  )
  assert.equal(await countSamples(context), 1)
  const createdResponses = responses.filter(({ status }) => status === 201)
  const rejectedResponses = responses.filter(({ status }) => status === 409)
  assert.equal(createdResponses.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1)
  assert.equal(createdResponses.length + rejectedResponses.length, 50)
  for (const { body, headers } of rejectedResponses) {
    assert.equal(body.error.code, 'IDEMPOTENCY_IN_PROGRESS')
    assert.equal(headers.get('retry-after'), '1')
  }
})

test('a call with the same Idempotency-Key but another method, path or body is rejected and changes nothing', async (t) => {
  const { as, key, context } = await startSampleApp(t)
  await as(key).post('/samples', { name: 'one' }, { idempotencyKey: 'k-1' })
  await as(key).post('/paid-samples', { name: 'one' }, { idempotencyKey: 'k-2' })
  for (const call of [
    () => as(key).post('/samples', { name: 'two' }, { idempotencyKey: 'k-1' }),
    () => as(key).post('/paid-samples', { name: 'one' }, { idempotencyKey: 'k-1' }),
    () => as(key).put('/paid-samples', { name: 'one' }, { idempotencyKey: 'k-2' }),
  ]) {
    const { status, body } = await call()
    assert.equal(status, 422)
    assert.equal(body.error.code, 'IDEMPOTENCY_KEY_REUSED')
  }
  assert.equal(await countSamples(context), 2)
})

test('each API key has its own idempotency keys', async (t) => {
  const { as, key, fixtures, orgId, context } = await startSampleApp(t)
  const otherKey = await fixtures.createPartnerKey(orgId)
  await as(key).post('/samples', { name: 'one' }, { idempotencyKey: 'k-1' })
  const { status, headers } = await as(otherKey).post('/samples', { name: 'two' }, { idempotencyKey: 'k-1' })
  assert.equal(status, 201)
  assert.equal(headers.get('idempotency-replayed'), null)
  assert.equal(await countSamples(context), 2)
})

test('an error from a business rule is stored, and its changes are rolled back', async (t) => {
  const { as, key, context } = await startSampleApp(t)
  const firstResponse = await as(key).post('/samples', { name: 'conflict' }, { idempotencyKey: 'k-1' })
  const retryResponse = await as(key).post('/samples', { name: 'conflict' }, { idempotencyKey: 'k-1' })
  assert.equal(firstResponse.status, 409)
  assert.equal(retryResponse.status, 409)
  assert.equal(retryResponse.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(retryResponse.body, firstResponse.body)
  assert.equal(await countSamples(context), 0)
})

for (const [name, status] of [
  ['retry-later', 409],
  ['poor', 402],
  ['broken', 500],
] as const) {
  test(`an error that a retry can resolve is not stored: ${name} (${status})`, async (t) => {
    const { as, key, context } = await startSampleApp(t)
    for (let attempt = 0; attempt < 2; attempt++) {
      const response = await as(key).post('/samples', { name }, { idempotencyKey: 'k-1' })
      assert.equal(response.status, status)
      assert.equal(response.headers.get('idempotency-replayed'), null)
    }
    assert.equal((await as(key).post('/samples', { name: 'fine' }, { idempotencyKey: 'k-1' })).status, 201)
    assert.equal(await countSamples(context), 1)
  })
}

test('responses are stored for 24 hours, then the Idempotency-Key can be reused', async (t) => {
  const { as, key, clock, context } = await startSampleApp(t)
  await as(key).post('/samples', { name: 'one' }, { idempotencyKey: 'k-1' })
  clock.advance(24 * HOUR - 1)
  assert.equal(
    (await as(key).post('/samples', { name: 'one' }, { idempotencyKey: 'k-1' })).headers.get('idempotency-replayed'),
    'true',
  )
  clock.advance(1)
  const { status, headers } = await as(key).post('/samples', { name: 'two' }, { idempotencyKey: 'k-1' })
  assert.equal(status, 201)
  assert.equal(headers.get('idempotency-replayed'), null)
  assert.equal(await countSamples(context), 2)
})

test('expired idempotency records are deleted, newer ones stay', async (t) => {
  const { as, key, clock, context } = await startSampleApp(t)
  await as(key).post('/samples', { name: 'one' }, { idempotencyKey: 'old' })
  clock.advance(24 * HOUR)
  await as(key).post('/samples', { name: 'two' }, { idempotencyKey: 'new' })
  await context.db.transaction((tx) => deleteOldIdempotencyRecords(tx, clock.now()))
  const records = await context.db.queries.selectFrom('idempotency_records').select('idempotency_key').execute()
  assert.deepEqual(records, [{ idempotency_key: 'new' }])
})

test('a call that spends credits requires an Idempotency-Key', async (t) => {
  const { as, key, context } = await startSampleApp(t)
  const { status, body } = await as(key).post('/paid-samples', { name: 'one' })
  assert.equal(status, 400)
  assert.equal(body.error.code, 'IDEMPOTENCY_KEY_REQUIRED')
  assert.equal(body.error.details[0].path, 'headers.Idempotency-Key')
  assert.equal(await countSamples(context), 0)
  const invalidResponse = await as(key).post('/paid-samples', { nome: 'one' })
  assert.equal(invalidResponse.body.error.code, 'VALIDATION_FAILED', 'the schema is checked first')
  assert.equal((await as(key).post('/paid-samples', { name: 'one' }, { idempotencyKey: true })).status, 201)
})

test('an Idempotency-Key has 1 to 255 printable characters', async (t) => {
  const { as, key } = await startSampleApp(t)
  assert.equal((await as(key).post('/samples', { name: 'x' }, { idempotencyKey: 'k'.repeat(255) })).status, 201)
  const longKeyResponse = await as(key).post('/samples', { name: 'x' }, { idempotencyKey: 'k'.repeat(256) })
  assert.equal(longKeyResponse.status, 400)
  assert.deepEqual(longKeyResponse.body.error.details, [
    { path: 'headers.Idempotency-Key', message: 'must be 1 to 255 printable characters' },
  ])
  assert.equal((await as(key).post('/samples', { name: 'x' }, { headers: { 'idempotency-key': '' } })).status, 400)
})

test('a stored response with a secret is encrypted', async (t) => {
  const { as, key, context } = await startSampleApp(t)
  const firstResponse = await as(key).post('/samples', { name: 'secret' }, { idempotencyKey: 'k-1' })
  assert.equal(firstResponse.body.data.secret, 'whsec_very')
  const row = await context.db.queries.selectFrom('idempotency_records').selectAll().executeTakeFirstOrThrow()
  assert.equal(row.body, null)
  assert.ok(!row.sealed_body!.includes('whsec_very'))
  const retryResponse = await as(key).post('/samples', { name: 'secret' }, { idempotencyKey: 'k-1' })
  assert.deepEqual(retryResponse.body, firstResponse.body)
})
