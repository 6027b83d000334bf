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
  for (const [index, response] of responses.entries())
    uploads.reserve({ uploader: `token-${index}`, orgId: `ORG_${index % 2}`, bytes: 5 * MEGABYTE }, response)
  const ofOther = (uploader: string, bytes: number) => ({ uploader, orgId: 'ORG_2', bytes })
  uploads.reserve(ofOther('token-closed', 4 * MEGABYTE), aResponse(true))
  const last = aResponse()
  const reserve = (bytes: number) => uploads.reserve(ofOther('token-last', bytes), last)
  assert.throws(() => reserve(4 * MEGABYTE + 1), { code: 'SERVICE_UNAVAILABLE', retryAfter: 10 })
  reserve(4 * MEGABYTE)
  assert.throws(() => uploads.reserve(ofOther('other', 1), aResponse()), { code: 'SERVICE_UNAVAILABLE' })
  last.emit('close')
  uploads.reserve(ofOther('other', 4 * MEGABYTE), aResponse())
})

test('a session has two uploads at a time', () => {
  const uploads = new Uploads()
  const [first, second] = [aResponse(), aResponse()]
  const upload = { uploader: 'token', orgId: 'ORG_1', bytes: 1 }
  uploads.reserve(upload, first)
  uploads.reserve(upload, second)
  assert.throws(() => uploads.reserve(upload, aResponse()), { code: 'RATE_LIMITED', retryAfter: 10 })
  uploads.reserve({ ...upload, uploader: 'other-token' }, aResponse())
  first.emit('close')
  uploads.reserve(upload, aResponse())
  assert.throws(() => uploads.reserve(upload, aResponse()), { code: 'RATE_LIMITED' })
})

test('the uploads of one organisation reserve at most half', () => {
  const uploads = new Uploads()
  const first = aResponse()
  const upload = (uploader: string, orgId = 'ORG_1') => ({ uploader, orgId, bytes: 16 * MEGABYTE })
  uploads.reserve(upload('a'), first)
  uploads.reserve(upload('b'), aResponse())
  assert.throws(() => uploads.reserve({ ...upload('c'), bytes: 1 }, aResponse()), { code: 'RATE_LIMITED' })
  uploads.reserve(upload('c', 'ORG_2'), aResponse())
  first.emit('close')
  uploads.reserve(upload('c'), aResponse())
})
