import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { Uploads } from './uploads.ts'

const MEGABYTE = 1024 * 1024

function aResponse(destroyed = false): ServerResponse {
  return Object.assign(new EventEmitter(), { destroyed }) as unknown as ServerResponse
}

test('uploads reserve up to 64 MB together, until their responses are closed', () => {
  const uploads = new Uploads()
  const responses = Array.from({ length: 12 }, () => aResponse())
  for (const [index, response] of responses.entries()) uploads.reserve(`token-${index}`, 5 * MEGABYTE, response)
  uploads.reserve('token-closed', 4 * MEGABYTE, aResponse(true))
  const last = aResponse()
  const reserve = (bytes: number) => uploads.reserve('token-last', bytes, last)
  assert.throws(() => reserve(4 * MEGABYTE + 1), { code: 'SERVICE_UNAVAILABLE', retryAfter: 10 })
  reserve(4 * MEGABYTE)
  assert.throws(() => uploads.reserve('other', 1, aResponse()), { code: 'SERVICE_UNAVAILABLE' })
  last.emit('close')
  uploads.reserve('other', 4 * MEGABYTE, aResponse())
})

test('a session has two uploads at a time', () => {
  const uploads = new Uploads()
  const [first, second] = [aResponse(), aResponse()]
  uploads.reserve('token', 1, first)
  uploads.reserve('token', 1, second)
  assert.throws(() => uploads.reserve('token', 1, aResponse()), { code: 'RATE_LIMITED', retryAfter: 10 })
  uploads.reserve('other-token', 1, aResponse())
  first.emit('close')
  uploads.reserve('token', 1, aResponse())
  assert.throws(() => uploads.reserve('token', 1, aResponse()), { code: 'RATE_LIMITED' })
})
