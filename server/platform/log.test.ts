import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from './log.ts'

function logLine(fields: object, message: string): string {
  const writtenLines: string[] = []
  createLog('info', { write: (line) => void writtenLines.push(line) }).info(fields, message)
  return writtenLines.join('')
}

test('secrets, signatures, tokens, phone numbers and email addresses never reach the log', () => {
  const secrets = [
    'VFN_SK_abcDEF-123_456',
    'VSK_TEST_abcDEF-123_456',
    'whsec_abcDEF123=',
    'vst_abcDEF123',
    'adm_abcDEF123',
    'v1=0123456789abcdef0123456789abcdef',
    'asha.k+jobs@mail.example.co.in',
    '+919990000001',
    '+91 99900 00001',
    'postgres://user:hunter2@host/db',
  ]
  for (const secret of secrets) {
    for (const line of [
      logLine({}, `about ${secret} here`),
      logLine({ err: new Error(`bad ${secret}`) }, 'failed'),
      logLine({ deep: { list: [secret] } }, 'x'),
    ]) {
      assert.doesNotThrow(() => JSON.parse(line), line)
      for (const part of [secret, 'hunter2', '99900', 'asha']) assert.ok(!line.includes(part), `${part} in ${line}`)
    }
  }
})

test('key IDs, request IDs and routes are not redacted', () => {
  const line = JSON.parse(
    logLine(
      { key: 'VFN_TEST_ABC', request_id: 'req_01J', ms: 12.5, route: '/api/v1/partner/mandates/:mandate_id' },
      'request',
    ),
  )
  assert.equal(line.key, 'VFN_TEST_ABC')
  assert.equal(line.level, 'info')
  assert.equal(line.route, '/api/v1/partner/mandates/:mandate_id')
  assert.match(line.time, /^\d{4}-\d\d-\d\dT/)
})

test('properties that a driver attaches to its errors are not logged', () => {
  const error = Object.assign(new Error('terminated'), {
    code: '57P01',
    client: { secretKey: 12345, password: 'hunter2' },
  })
  const line = logLine({ err: new Error('outer', { cause: error }) }, 'failed')
  assert.ok(!/secretKey|hunter2/.test(line))
  const { err } = JSON.parse(line)
  assert.equal(err.message, 'outer')
  assert.equal(err.cause.code, '57P01')
})
