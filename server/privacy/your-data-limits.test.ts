import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { contactTestCandidate, readPhoneCode, yourDataCalls } from '../../test/support/your-data.ts'
import { DAY } from '../platform/clock.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

test('a new email address is accepted only for a correction, and only if it is valid', async () => {
  const app = await startSharedApp()
  const { token } = await contactTestCandidate(app)
  const { start } = yourDataCalls(app, 'candidate', token)
  for (const action of ['export', 'erase', 'withdraw']) {
    const { status, body } = await start(action, 'phone', { email: 'stranger@example.com' })
    assert.deepEqual([status, body.error.message], [400, 'email: is accepted only if `action` is `correct`'], action)
  }
  const invalid = await start('correct', 'phone', { email: 'nobody' })
  assert.equal(invalid.status, 400)
  assert.match(invalid.body.error.message, /^email: must be an email address/)
  const { rows } = await app.context.db.pool.query('select 1 from mails where kind = $1', ['confirmation_code'])
  assert.equal(rows.length, 0)
})

test('a correction needs a name or an email address, and a name may not contain a link', async () => {
  const app = await startSharedApp()
  const { token, candidateId } = await contactTestCandidate(app)
  const { start, confirm } = yourDataCalls(app, 'candidate', token)
  const { request_id } = (await start('correct', 'phone')).body.data
  const code = await readPhoneCode(app, candidateId)
  const empty = await confirm(request_id, { code })
  assert.deepEqual([empty.status, empty.body.error.message], [400, 'name: is required if `email` is missing'])
  const link = await confirm(request_id, { code, name: 'See https://example.com' })
  assert.equal(link.status, 400)
  assert.match(link.body.error.message, /^name: must not contain a web address/)
  assert.equal((await confirm(request_id, { code, name: 'New Name' })).status, 200)
})

test('a code does not work for a request of another person', async () => {
  const app = await startSharedApp()
  const [one, other] = [await contactTestCandidate(app), await contactTestCandidate(app)]
  const { request_id } = (await yourDataCalls(app, 'candidate', one.token).start('erase', 'phone')).body.data
  const code = await readPhoneCode(app, one.candidateId)
  assert.equal((await yourDataCalls(app, 'candidate', other.token).confirm(request_id, { code })).status, 403)
})

test('a person can request ten codes in 24 hours', async () => {
  const app = await startSharedApp()
  const { token } = await contactTestCandidate(app)
  const { start } = yourDataCalls(app, 'candidate', token)
  for (let request = 1; request <= 10; request++)
    assert.equal((await start('export', 'phone')).status, 200, `${request}`)
  app.clock.advance(DAY - 1)
  const rejected = await start('export', 'phone')
  assert.deepEqual([rejected.status, rejected.body.error.code], [429, 'RATE_LIMITED'])
  app.clock.advance(1)
  assert.equal((await start('export', 'phone')).status, 200)
})

test('after the erasure, consent can no longer be given', async () => {
  const app = await startSharedApp()
  const { token, candidateId } = await contactTestCandidate(app)
  const { start, confirm, agree } = yourDataCalls(app, 'candidate', token)
  const { request_id } = (await start('erase', 'phone')).body.data
  assert.equal((await confirm(request_id, { code: await readPhoneCode(app, candidateId) })).status, 200)
  const rejected = await agree()
  assert.deepEqual([rejected.status, rejected.body.error.code], [410, 'LINK_EXPIRED'])
})

test('requests are limited per link, per address, and per address for links that do not exist', async (t) => {
  const app = await startApp(t)
  const { token } = await contactTestCandidate(app)
  const { view } = yourDataCalls(app, 'candidate', token)
  for (let call = 1; call <= 20; call++) assert.equal((await view()).status, 200, `${call}`)
  const limited = await view()
  assert.deepEqual(
    [limited.status, limited.body.error.code, limited.headers.get('retry-after')],
    [429, 'RATE_LIMITED', '1'],
  )

  for (let guess = 1; guess <= 60; guess++)
    assert.equal((await yourDataCalls(app, 'candidate', `guess-${guess}`).view()).status, 404)
  assert.equal((await yourDataCalls(app, 'candidate', 'guess-61').view()).status, 429)
  app.clock.advance(10_000)
  assert.equal((await view()).status, 200, 'wrong guesses from an address do not lock out people with a link')

  const callWithoutToken = async () => (await app.fetch('/api/v1/your-data/candidate')).status
  let calls = 21 + 61 + 1
  while ((await callWithoutToken()) === 401) calls++
  assert.equal(calls, 300)
})
