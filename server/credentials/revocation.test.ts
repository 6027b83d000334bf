import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase, startApp, type TestApp } from '../../test/support/app.ts'
import { TestClock } from '../../test/support/clock.ts'
import {
  checkOverHttp,
  holderCalls,
  isRevoked,
  issueCredential,
  readPublic,
} from '../../test/support/issued-credentials.ts'
import { readPdfText } from '../../test/support/pdf.ts'
import { startVerification } from '../../test/support/verification.ts'

test('a revocation is visible at once in every process, also in pages and pictures that were drawn before', async (t) => {
  const { url: databaseUrl, drop } = await cloneDatabase()
  const clock = new TestClock()
  const config = { databaseUrl, masterKey: Buffer.alloc(32, 7), publicUrl: 'https://skills.example' }
  const calls = await startVerification(t, { clock, config })
  const otherProcess = await startApp(t, { clock, config })
  t.after(drop)
  const { id, holderToken } = await issueCredential(calls)
  const { credential } = await readPublic(calls.app, id)
  const { body } = await holderCalls(calls.app, holderToken).change({ profile_public: true })
  const profilePath = new URL(body.data.profile_url).pathname

  /** Returns what a visitor and a verifier see. */
  async function look(app: TestApp) {
    const file = async (extension: string) => {
      const response = await fetch(`${app.url}/credentials/${id}${extension}`)
      assert.match(response.headers.get('cache-control')!, /^no-(cache|store)$/, extension)
      return Buffer.from(await response.arrayBuffer())
    }
    const profile = await app.fetch(profilePath)
    assert.equal(profile.headers.get('cache-control'), 'no-store')
    return {
      listIsSet: await isRevoked(app, credential),
      verdict: (await checkOverHttp(app, credential)).verdict,
      pageIsMarked: (await file('')).includes('class="certificate revoked"'),
      pdfIsMarked: readPdfText(await file('.pdf')).includes('Do not rely on this credential.'),
      picture: (await file('.preview.png')).toString('base64'),
      isInProfile: profile.body.includes(id),
    }
  }

  const processes = [calls.app, otherProcess]
  const earlierPictures = new Set<string>()
  for (const app of processes) {
    const { picture, ...seen } = await look(app)
    earlierPictures.add(picture)
    assert.deepEqual(seen, {
      listIsSet: false,
      verdict: 'valid',
      pageIsMarked: false,
      pdfIsMarked: false,
      isInProfile: true,
    })
  }
  const key = await calls.app.fixtures.createPartnerKey(calls.orgId)
  assert.equal((await calls.app.as(key).post(`/credentials/${id}/revoke`, { reason: 'issued_in_error' })).status, 200)
  for (const app of processes) {
    const { picture, ...seen } = await look(app)
    assert.deepEqual(seen, {
      listIsSet: true,
      verdict: 'revoked',
      pageIsMarked: true,
      pdfIsMarked: true,
      isInProfile: false,
    })
    assert.ok(!earlierPictures.has(picture))
  }
})
