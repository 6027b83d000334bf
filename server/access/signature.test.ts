import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { linesToSign as sdkLines, sign } from '../../sdk/index.ts'
import { HmacKey } from '../platform/hmac.ts'
import { isSignatureValid, stringToSign } from './signature.ts'

interface Vector {
  name: string
  secret: string
  timestamp: number
  method: string
  target: string
  on_behalf_of: string
  idempotency_key: string
  body: string
  lines: string
  signature: string
}

const { requests: vectors } = JSON.parse(readFileSync(new URL('../../sdks/vectors.json', import.meta.url), 'utf8')) as {
  requests: Vector[]
}

test('the vectors cover every optional part', () => {
  assert.ok(vectors.some(({ body }) => body === '') && vectors.some(({ body }) => body !== ''))
  assert.ok(
    vectors.some(({ on_behalf_of }) => on_behalf_of !== '') &&
      vectors.some(({ idempotency_key }) => idempotency_key !== ''),
  )
  assert.ok(vectors.some(({ body }) => /[^ -~]/.test(body)))
})

for (const vector of vectors) {
  test(`the server and the SDK agree with the published vector: ${vector.name}`, async () => {
    const lines = stringToSign({
      timestamp: String(vector.timestamp),
      method: vector.method,
      target: vector.target,
      onBehalfOf: vector.on_behalf_of,
      idempotencyKey: vector.idempotency_key,
      body: Buffer.from(vector.body),
    })
    assert.equal(lines, vector.lines)
    assert.ok(isSignatureValid(lines, vector.signature, [new HmacKey(Buffer.from(vector.secret))]))

    const input = {
      secret: vector.secret,
      timestamp: vector.timestamp,
      method: vector.method,
      target: vector.target,
      onBehalfOf: vector.on_behalf_of || undefined,
      idempotencyKey: vector.idempotency_key || undefined,
      body: vector.body,
    }
    assert.equal(await sdkLines(input), vector.lines)
    assert.equal(await sign(input), vector.signature)
  })
}

test('a signature in any other format is rejected', () => {
  const [vector] = vectors
  const secrets = [new HmacKey(Buffer.from(vector!.secret))]
  const hex = vector!.signature.slice(3)
  for (const signature of [
    '',
    hex,
    `v1=${hex.toUpperCase()}`,
    `v1=${hex}0`,
    `v2=${hex}`,
    `v1= ${hex}`,
    `v1=${hex},v1=${hex}`,
    `v1=${'0'.repeat(64)}`,
  ]) {
    assert.equal(isSignatureValid(vector!.lines, signature, secrets), false, signature)
  }
})
