import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKeyPair } from '../../server/credentials/proof/keys.ts'
import { signAsJwt } from '../../server/credentials/proof/sign.ts'
import { assertAccessible } from '../../test/browser/axe.ts'
import { newPage } from '../../test/browser/browser.ts'
import { saveScreenshot } from '../../test/browser/screenshots.ts'
import { sampleCredential } from '../../test/support/credentials.ts'
import { issueCredential } from '../../test/support/issued-credentials.ts'
import { startVerification } from '../../test/support/verification.ts'

test('anyone can paste or choose a credential and see each check', async (t) => {
  const calls = await startVerification(t)
  const { url } = await issueCredential(calls, { showName: true })
  const path = new URL(url).pathname
  const { body } = await calls.app.fetch(`${path}.jwt`)
  const jwt = String(body)
  const page = await newPage(t, { width: 360, height: 740 })
  await page.goto(`${calls.app.url}/credentials/verify`)
  const check = page.getByRole('button', { name: 'Check a credential' })
  await check.click()
  await page.getByText('Paste a credential or choose a file first.').waitFor()
  await page.getByLabel('Credential', { exact: true }).fill(jwt)
  await check.click()
  await page.getByText('Valid. The issuer signed it, and it is neither revoked nor expired.').waitFor()
  await page.getByRole('heading', { name: 'Bricklaying' }).waitFor()
  await page.getByText('Asha Rao').waitFor()
  await page.getByText('Issued by this server.').waitFor()
  const facts = await page.locator('.facts').innerText()
  assert.match(facts, /Issued by\s+(localhost|127\.0\.0\.1):\d+\s+ID of the issuer\s+did:web:/)
  assert.match(facts, /Name, as the issuer calls itself/)
  assert.equal(await page.locator('.steps .passed').count(), 7)
  await assertAccessible(page)
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))
  await saveScreenshot(page, 'check-credential-phone')

  // Anyone can create a did:key and choose the name of a known organisation.
  const keyPair = await generateKeyPair()
  const did = `did:key:${keyPair.publicKeyMultibase}`
  const key = { did, id: `${did}#${keyPair.publicKeyMultibase}`, ...keyPair }
  const { credentialStatus: _, ...selfMade } = sampleCredential({ key, statusListUrl: `${calls.app.url}/x` })
  await page.getByLabel('Credential', { exact: true }).fill(await signAsJwt(selfMade, key))
  await check.click()
  await page.getByText('The identity of the issuer is not proven: anyone can create such an ID.').waitFor()
  assert.match(await page.locator('.facts').innerText(), /Issued by\s+did:key:/)
  assert.equal(await page.getByText('Issued by this server.').count(), 0)

  const [header, , signature] = jwt.split('.')
  const forged = JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString())
  forged.credentialSubject.achievement.name = 'Brain surgery'
  const payload = Buffer.from(JSON.stringify(forged)).toString('base64url')
  await page.getByLabel('Choose a file').setInputFiles({
    name: 'badge.jwt',
    mimeType: 'application/vc+jwt',
    buffer: Buffer.from(`${header}.${payload}.${signature}`),
  })
  await page.getByText('Not valid. Do not rely on this credential.').waitFor()
  assert.equal(await page.locator('.steps .failed').count(), 1)
  const picture = await fetch(`${calls.app.url}${path}.png`)
  await page.getByLabel('Choose a file').setInputFiles({
    name: 'badge.png',
    mimeType: 'image/png',
    buffer: Buffer.from(await picture.arrayBuffer()),
  })
  await page.getByText('Valid. The issuer signed it, and it is neither revoked nor expired.').waitFor()
  await page.getByLabel('Choose a file').setInputFiles({
    name: 'large.json',
    mimeType: 'application/json',
    buffer: Buffer.alloc(300_000, ' '),
  })
  await page.getByText('This file is too large.').waitFor()
})
