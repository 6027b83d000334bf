import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { generateKeyPair } from '../../server/credentials/proof/keys.ts'
import { assertAccessible } from '../../test/browser/axe.ts'
import { newPage } from '../../test/browser/browser.ts'
import { saveScreenshot } from '../../test/browser/screenshots.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { TestClock } from '../../test/support/clock.ts'
import { signInMember } from '../../test/support/console.ts'
import { issueCredential } from '../../test/support/issued-credentials.ts'
import { createPartner } from '../../test/support/partners.ts'
import { startVerification, type VerificationCalls, verificationCalls } from '../../test/support/verification.ts'

const PHONE = { width: 360, height: 740, hasTouch: true, isMobile: true }
const MAX_FIRST_VISIT_BYTES = 60 * 1024
const DAY_MS = 24 * 60 * 60_000

// Browsers compare validity periods with the real time. Tests advance the clock, which must not reach the future.
const startShared = oncePerFile((t) => startVerification(t, { clock: new TestClock(Date.now() - DAY_MS) }))

/** Returns calls of a new organisation. */
async function setUp(): Promise<VerificationCalls> {
  const { app } = await startShared()
  app.clock.advance(61_000)
  const { orgId } = await app.fixtures.createOrg()
  return verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
}

/** Waits for the verdict; returns its class and the message of each step that has not passed. */
async function readVerdict(page: Page): Promise<[string, Record<string, string>]> {
  const verdict = page.locator('.verdict:not(.running)')
  await verdict.waitFor()
  const steps = page.locator('[data-step]:not(.passed)')
  const messages: Record<string, string> = {}
  for (const step of await steps.all())
    messages[(await step.getAttribute('data-step'))!] = (await step.locator('span').textContent())!
  return [(await verdict.getAttribute('class'))!.replace('verdict ', ''), messages]
}

const NOT_CHECKED = 'Not checked.'

test('a visitor sees a small page that is complete without a script and that checks itself with one', async (t) => {
  const calls = await setUp()
  const { url, id } = await issueCredential(calls, { showName: true })
  const plainPage = await newPage(t, { ...PHONE, javaScriptEnabled: false })
  await plainPage.goto(url)
  await plainPage.getByRole('heading', { name: 'Bricklaying', level: 1 }).waitFor()
  assert.ok(await plainPage.locator('#check noscript p').isVisible())
  for (const text of ['Asha Rao', 'What this does not prove', id])
    assert.ok(await plainPage.getByText(text).first().isVisible(), text)
  assert.equal(await plainPage.getByRole('button', { name: 'Copy link' }).isVisible(), false)
  await plainPage.close()

  const page = await newPage(t, PHONE)
  const sizes: Promise<number>[] = []
  page.on('requestfinished', (request) => {
    sizes.push(
      request.sizes().then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize),
    )
  })
  await page.goto(url)
  assert.deepEqual(await readVerdict(page), ['valid', {}])
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  t.diagnostic(`${sizes.length} requests, ${bytes} bytes`)
  assert.ok(bytes < MAX_FIRST_VISIT_BYTES, `${bytes} bytes`)
  const blocking = await page.evaluate(
    "performance.getEntriesByType('resource').filter((entry) => entry.renderBlockingStatus === 'blocking').map(({ name }) => name)",
  )
  assert.deepEqual(blocking, [], 'the first paint needs no other request')
  await assertAccessible(page)
  await saveScreenshot(page, 'credential-phone')
  await page.emulateMedia({ colorScheme: 'dark' })
  await assertAccessible(page)
  await saveScreenshot(page, 'credential-phone-dark')
  await page.setViewportSize({ width: 320, height: 640 })
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'no horizontal overflow')
  await page.emulateMedia({ media: 'print', colorScheme: 'light' })
  assert.equal(await page.getByRole('button', { name: 'Check', exact: true }).isVisible(), false)
  assert.ok(await page.getByRole('img', { name: 'QR code of this page' }).isVisible())
})

test('the check reports each failure with a clear message', async (t) => {
  const calls = await setUp()
  const { url, id } = await issueCredential(calls)
  const page = await newPage(t)
  const { publicKeyMultibase } = await generateKeyPair()
  const isDid = (address: URL) => address.pathname.endsWith('/did.json')
  const isList = (address: URL) => address.pathname.startsWith('/credentials/status/')
  const isPage = (address: URL) => address.pathname === `/credentials/${id}`

  const editDid = (edit: (document: any) => void) =>
    changeResponse((body) => {
      const document = JSON.parse(body)
      edit(document)
      return JSON.stringify(document)
    })
  const missing = (route: Route) => route.fulfill({ status: 404, body: '' })
  const abort = (route: Route) => route.abort()
  const afterContent = { key: NOT_CHECKED, signature: NOT_CHECKED, validity: NOT_CHECKED, status: NOT_CHECKED }
  const afterKey = { signature: NOT_CHECKED, validity: NOT_CHECKED, status: NOT_CHECKED }
  const afterSignature = { validity: NOT_CHECKED, status: NOT_CHECKED }
  const keyUnknown = 'The issuer does not list the key that signed this credential. The key is unknown or was revoked.'
  const signatureBad = 'The signature is wrong: the credential was changed or forged.'

  const cases: [string, (address: URL) => boolean, (route: Route) => Promise<void>, [string, object]][] = [
    [
      'changed page',
      isPage,
      changeResponse((html) => html.replaceAll('>Bricklaying<', '>Brain surgery<')),
      [
        'invalid',
        {
          content: 'This page shows something that the issuer did not sign.',
          issuer: NOT_CHECKED,
          ...afterContent,
        },
      ],
    ],
    [
      'changed page and credential',
      isPage,
      changeResponse((html) => changeSkill(html, 'Brain surgery')),
      ['invalid', { signature: signatureBad, ...afterSignature }],
    ],
    [
      'damaged credential',
      isPage,
      changeResponse((html) => html.replace('"jwt":"ey', '"jwt":"!!')),
      ['invalid', { content: 'The credential is damaged and cannot be read.', issuer: NOT_CHECKED, ...afterContent }],
    ],
    [
      'key of another issuer',
      isDid,
      editDid((document) => {
        document.verificationMethod[0].publicKeyMultibase = publicKeyMultibase
      }),
      ['invalid', { signature: signatureBad, ...afterSignature }],
    ],
    [
      'key removed',
      isDid,
      editDid((document) => {
        document.verificationMethod = []
        document.assertionMethod = []
      }),
      ['invalid', { key: keyUnknown, ...afterKey }],
    ],
    [
      'key marked as revoked',
      isDid,
      editDid((document) => {
        document.verificationMethod[0].revoked = '2026-01-01T00:00:00Z'
      }),
      ['invalid', { key: 'The issuer has revoked the key that signed this credential.', ...afterKey }],
    ],
    [
      'document of another issuer',
      isDid,
      editDid((document) => {
        document.id = 'did:web:example.org'
      }),
      ['invalid', { issuer: 'The key list belongs to another issuer.', ...afterContent }],
    ],
    [
      'no document',
      isDid,
      missing,
      ['incomplete', { issuer: "The issuer's key list was not found.", ...afterContent }],
    ],
    ['no connection', isDid, abort, ['incomplete', { issuer: 'No connection. Try again later.', ...afterContent }]],
    [
      'no status list',
      isList,
      missing,
      ['incomplete', { status: "The issuer's revocation list was not found. The credential may have been revoked." }],
    ],
    [
      'damaged status list',
      isList,
      (route) => route.fulfill({ status: 200, body: 'e30.e30.AAAA' }),
      ['invalid', { status: 'The revocation list is damaged or not signed by the issuer.' }],
    ],
  ]
  for (const [name, matches, handle, expected] of cases) {
    await page.route(matches, handle)
    await page.goto(url)
    assert.deepEqual(await readVerdict(page), expected, name)
    await page.unroute(matches, handle)
  }
  await page.goto(url.replace('127.0.0.1', 'localhost'))
  const [verdict, { content }] = await readVerdict(page)
  assert.equal(verdict, 'invalid')
  assert.match(content!, /^The credential belongs to 127\.0\.0\.1:\d+, but this page is on another website\.$/)
})

/** Returns a route handler that changes the body of the server's response. */
function changeResponse(change: (body: string) => string) {
  return async (route: Route) => {
    const response = await fetch(route.request().url())
    const { 'content-encoding': _, 'content-length': __, ...headers } = Object.fromEntries(response.headers)
    await route.fulfill({ status: response.status, headers, body: change(await response.text()) })
  }
}

/** Changes the skill in the page and in the payload of the embedded JWT, and leaves the signature. */
function changeSkill(html: string, skill: string): string {
  return html
    .replaceAll('>Bricklaying<', `>${skill}<`)
    .replace(/"jwt":"([\w-]+)\.([\w-]+)\.([\w-]+)"/, (_, header, payload, signature) => {
      const credential = JSON.parse(Buffer.from(payload, 'base64url').toString())
      credential.credentialSubject.achievement.name = skill
      return `"jwt":"${header}.${Buffer.from(JSON.stringify(credential)).toString('base64url')}.${signature}"`
    })
}

test('a revoked, an expired and a not yet valid credential, and a device with a wrong clock are told apart', async (t) => {
  const calls = await setUp()
  const { app } = calls
  const revoked = await issueCredential(calls)
  const partner = await createPartner(app, 'live', calls.orgId)
  const response = await partner.post(`/credentials/${revoked.id}/revoke`, { reason: 'issued_in_error' })
  assert.equal(response.status, 200)
  const page = await newPage(t, { colorScheme: 'dark' })
  await page.goto(revoked.url)
  assert.deepEqual(await readVerdict(page), ['revoked', { status: 'The issuer has revoked this credential.' }])
  assert.ok(await page.getByText(/^Revoked on .+\. Do not rely on this credential\.$/).isVisible())
  assert.equal(await page.getByRole('link', { name: 'Add to LinkedIn' }).count(), 0)
  await assertAccessible(page)
  await saveScreenshot(page, 'credential-revoked-dark')

  const valid = await issueCredential(calls, { student: { externalStudentId: 'stu-2', email: 'bina@example.com' } })
  await page.clock.install({ time: Date.now() + 1000 * DAY_MS })
  await page.goto(valid.url)
  const [verdict, { validity }] = await readVerdict(page)
  assert.equal(verdict, 'incomplete')
  assert.match(validity!, /^The clock of this device is wrong by about \d+ minutes\./)

  const otherPage = await newPage(t)
  app.clock.set(Date.now() + 3 * DAY_MS)
  const early = await issueCredential(calls, { student: { externalStudentId: 'stu-3', email: 'carl@example.com' } })
  await otherPage.goto(early.url)
  assert.deepEqual(await readVerdict(otherPage), ['not_yet', { validity: 'The credential is not valid yet.' }])

  app.clock.set(Date.now() - 800 * DAY_MS)
  const expired = await issueCredential(calls, { student: { externalStudentId: 'stu-4', email: 'dev@example.com' } })
  app.clock.set(Date.now() - DAY_MS)
  await otherPage.goto(expired.url)
  assert.deepEqual(await readVerdict(otherPage), ['expired', { validity: 'The credential has expired.' }])
  assert.ok(await otherPage.getByText(/^Expired on /).isVisible())
})

test('a credential signed with a retired key stays valid, and one signed with a revoked key does not', async (t) => {
  const calls = await setUp()
  const { app, orgId } = calls
  const { url } = await issueCredential(calls)
  const owner = await signInMember(app, orgId, 'owner')
  const keysPath = `/orgs/${orgId}/live/credential-keys`
  const rotated = await owner.post(`${keysPath}/rotate`, {})
  assert.equal(rotated.body.data.keys.length, 2)
  const page = await newPage(t)
  await page.goto(url)
  assert.deepEqual(await readVerdict(page), ['valid', {}])

  const { key_id: oldKeyId } = rotated.body.data.keys.find(({ name }: { name: string }) => name === 'key-1')
  assert.equal((await owner.post(`${keysPath}/${oldKeyId}/revoke`, {})).status, 200)
  await page.reload()
  const [verdict, { key }] = await readVerdict(page)
  assert.equal(verdict, 'invalid')
  assert.match(key!, /The key is unknown or was revoked\.$/)
  assert.ok(await page.getByText(/^Revoked on /).isVisible())
})

test('a browser without Ed25519 checks with an implementation in JavaScript', async (t) => {
  const { url } = await issueCredential(await setUp())
  const page = await newPage(t)
  await page.addInitScript(
    "crypto.subtle.importKey = () => Promise.reject(new DOMException('Unrecognized name', 'NotSupportedError'))",
  )
  await page.goto(url)
  assert.deepEqual(await readVerdict(page), ['valid', {}])
  await page.route(
    '**/credentials/crd_*',
    changeResponse((html) => changeSkill(html, 'Brain surgery')),
  )
  await page.reload()
  assert.equal((await readVerdict(page))[0], 'invalid')
})

test('a visitor chooses the language, and checks whether the credential belongs to a person', async (t) => {
  const { url } = await issueCredential(await setUp())
  const page = await newPage(t, { ...PHONE, locale: 'ta-IN' })
  await page.goto(url)
  assert.equal(await page.evaluate('document.documentElement.lang'), 'ta')
  await page.locator('select[name=lang]').selectOption('hi')
  await page.getByText('मान्य। आपके ब्राउज़र ने सारी जाँच पूरी की।').waitFor()
  await assertAccessible(page)
  await saveScreenshot(page, 'credential-phone-hindi')

  const address = page.locator('input[name=address]')
  const submit = page.getByRole('button', { name: 'जाँचें', exact: true })
  await address.fill('someone@example.com')
  await submit.click()
  await page.getByText('नहीं, प्रमाणपत्र इस ईमेल या नंबर का नहीं है।').waitFor()
  await address.fill('Asha@Example.com')
  await submit.click()
  await page.getByText('हाँ, प्रमाणपत्र इसी ईमेल या नंबर का है।').waitFor()
})

test('a visitor adds the credential to a wallet with a code, a link or an address', async (t) => {
  const { url } = await issueCredential(await setUp())
  const page = await newPage(t, PHONE)
  await page.goto(url)
  await page.getByRole('button', { name: 'Add to wallet' }).click()
  await page.getByRole('heading', { name: 'Add to wallet' }).waitFor()
  const link = page.getByRole('link', { name: 'Open in the wallet app' })
  assert.match((await link.getAttribute('href'))!, /^openid-credential-offer:\/\/\?credential_offer_uri=/)
  await page.getByText('If the wallet does not accept the code').click()
  assert.ok(await page.getByText(`${url}.json`).isVisible())
  await assertAccessible(page)
  await saveScreenshot(page, 'wallet-phone')
  await page.emulateMedia({ colorScheme: 'dark' })
  await assertAccessible(page)
  await saveScreenshot(page, 'wallet-phone-dark')
  await page.setViewportSize({ width: 320, height: 640 })
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'no horizontal overflow')
})
