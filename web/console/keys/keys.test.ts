import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { DAY, HOUR } from '../../../server/platform/clock.ts'
import { checkPage, getButton, getDialog, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { createTestSignInLink } from '../../../test/support/console.ts'

const focusedText = async (page: Page) => {
  const { localName, textContent } = (await page.evaluate(
    '(({ localName, textContent }) => ({ localName, textContent }))(document.activeElement)',
  )) as { localName: string; textContent: string }
  return `${localName} ${textContent.slice(0, 30)}`
}

/** Escape does not close the dialog, because the secret cannot be shown again. */
const closeSecret = async (page: Page) => {
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await getDialog(page).getByRole('button', { name: 'I have copied it' }).click()
  await getDialog(page).waitFor({ state: 'detached' })
}

test('a key can be created, rotated and revoked; its secret is shown once', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/keys`)
  await waitForHeading(page, 'Keys')
  await page.getByText('No test keys yet').waitFor()
  await getButton(page, 'Create key').click()
  await page.getByLabel('campaigns:write').uncheck()
  await checkPage(page, 'keys-create')
  await getDialog(page).getByRole('button', { name: 'Create key' }).click()
  const secretHeading = getDialog(page).getByRole('heading', { name: 'Copy your secret now' })
  await secretHeading.waitFor()
  const [keyId, secret] = await getDialog(page).locator('code').allTextContents()
  await checkPage(page, 'keys-secret')
  await closeSecret(page)
  const withKey = app.as({ orgId, mode: 'test', keyId: keyId!, secret: secret! })
  await app.context.keyring.refresh()
  assert.equal((await withKey.get('/shifts')).status, 200)
  assert.equal((await withKey.post('/campaigns', {}, { idempotencyKey: true })).status, 403)

  await page.getByRole('button', { name: 'Limits' }).click()
  await getDialog(page).getByRole('listitem').filter({ hasText: 'Reads' }).getByText('1 / 120').waitFor()
  await checkPage(page, 'keys-limits')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Rotate' }).click()
  await getButton(page, 'Rotate secret').click()
  await secretHeading.waitFor()
  const [, next] = await getDialog(page).locator('code').allTextContents()
  assert.notEqual(next, secret)
  await closeSecret(page)
  assert.equal((await withKey.get('/shifts')).status, 200, 'the old secret stays valid for a day')
  await page.getByRole('button', { name: 'Revoke' }).click()
  await getButton(page, 'Revoke key').click()
  await page.getByRole('cell', { name: 'revoked' }).waitFor()
  await checkPage(page, 'keys')
  await app.context.keyring.refresh()
  assert.equal((await withKey.get('/shifts')).status, 401)
})

test('a key expires at the end of its last day', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const page = await openConsolePage(t, app, { timezoneId: 'Asia/Kolkata' })
  const keysUrl = `${app.url}/console/${orgId}/test/keys`
  await page.goto(keysUrl)
  await getButton(page, 'Create key').click()
  await getDialog(page).waitFor()
  await page.keyboard.press('Escape')
  await getDialog(page).waitFor({ state: 'detached' })
  assert.equal(await focusedText(page), 'button Create key', 'the button that opened the dialog')
  await page.keyboard.press('Enter')
  await getDialog(page).waitFor()
  assert.equal(await focusedText(page), 'h2 Create key')
  await page.keyboard.press('Enter') // a held Enter key must not create a key
  await page.getByLabel('Last valid day').fill('2026-03-10') // yesterday
  await getDialog(page).getByRole('button', { name: 'Create key' }).click()
  await page.locator('#key-last-day-error').getByText('must be a future time').waitFor()
  await page.getByLabel('Last valid day').fill('2026-03-12')
  await page.locator('#key-last-day-error').waitFor({ state: 'detached' })
  await getDialog(page).getByRole('button', { name: 'Create key' }).click()
  await getDialog(page)
    .getByText(/The key is valid until Mar 12,( 2026,)? 11:59/)
    .waitFor()
  const [keyId, secret] = await getDialog(page).locator('code').allTextContents()
  await closeSecret(page)
  const row = page.getByRole('row', { name: new RegExp(keyId!) })
  await row.getByRole('cell', { name: /Mar 12,( 2026,)? 11:59/ }).waitFor()
  assert.equal(await focusedText(page), 'button Create key', 'also after two dialogs in a row')
  await checkPage(page, 'keys-expiry')

  await app.context.keyring.refresh()
  const withKey = app.as({ orgId, mode: 'test', keyId: keyId!, secret: secret! })
  assert.equal((await withKey.get('/shifts')).status, 200)
  app.clock.set('2026-03-12T18:29:30.000Z') // half a minute before midnight in India
  assert.equal((await withKey.get('/shifts')).status, 200)
  app.clock.advance(DAY)
  assert.equal((await withKey.get('/shifts')).status, 401)
  await page.goto(await createTestSignInLink(app)) // the session has expired
  await waitForHeading(page, 'Acme Staffing')
  await page.goto(keysUrl)
  await row.getByText('expired').waitFor()
  assert.equal(await row.getByRole('button', { name: 'Rotate' }).count(), 0)
})

test('after a rotation the old secret stays valid for the chosen number of hours', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const key = await app.fixtures.createPartnerKey(orgId, { mode: 'test' })
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/keys`)
  const row = page.getByRole('row', { name: new RegExp(key.keyId) })
  const rotateWithGrace = async (hours: string) => {
    await row.getByRole('button', { name: 'Rotate' }).click()
    const field = getDialog(page).getByLabel('Keep the old secret valid for (hours)')
    assert.equal(await field.inputValue(), '24')
    await field.fill(hours)
    await getButton(page, 'Rotate secret').click()
  }
  const readShownSecret = async () => {
    await getDialog(page).getByRole('heading', { name: 'Copy your secret now' }).waitFor()
    return (await getDialog(page).locator('code').allTextContents())[1]!
  }
  const statusWith = async (secret: string) => {
    await app.context.keyring.refresh()
    return (await app.as({ ...key, secret }).get('/shifts')).status
  }

  await rotateWithGrace('721')
  await getDialog(page).locator('#key-grace-hours-error').waitFor()
  await getDialog(page).getByLabel('Keep the old secret valid for (hours)').fill('2')
  await getButton(page, 'Rotate secret').click()
  const secondSecret = await readShownSecret()
  await getDialog(page).getByText('The old secret stays valid until').waitFor()
  await closeSecret(page)
  await row.getByText('old secret valid until').waitFor()
  await checkPage(page, 'keys-two-secrets')
  assert.deepEqual([await statusWith(key.secret), await statusWith(secondSecret)], [200, 200])
  app.clock.advance(2 * HOUR)
  assert.deepEqual([await statusWith(key.secret), await statusWith(secondSecret)], [401, 200])
  await page.goto(await createTestSignInLink(app)) // a rotation requires a recent sign-in
  await waitForHeading(page, 'Acme Staffing')
  await page.goto(`${app.url}/console/${orgId}/test/keys`)
  await row.waitFor()
  assert.equal(await row.getByText('old secret valid until').count(), 0)

  await rotateWithGrace('2')
  const thirdSecret = await readShownSecret()
  await closeSecret(page)
  await row.getByRole('button', { name: 'Rotate' }).click()
  await getDialog(page).getByText('Two secrets are valid now.').waitFor()
  await checkPage(page, 'keys-rotate-again')
  await getDialog(page).getByLabel('Keep the old secret valid for (hours)').fill('0')
  await getButton(page, 'Rotate secret').click()
  const fourthSecret = await readShownSecret()
  await getDialog(page).getByText('The old secret is no longer valid.').waitFor()
  assert.deepEqual(
    [await statusWith(secondSecret), await statusWith(thirdSecret), await statusWith(fourthSecret)],
    [401, 401, 200],
  )
})

test('a key is named when it is created, and renamed later', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/keys`)
  await getButton(page, 'Create key').click()
  await getDialog(page).getByLabel('Name (optional)').fill('Greenhouse production')
  await getDialog(page).getByRole('button', { name: 'Create key' }).click()
  await getDialog(page).getByRole('heading', { name: 'Copy your secret now' }).waitFor()
  await getDialog(page).getByText('Greenhouse production').waitFor()
  const [keyId] = await getDialog(page).locator('code').allTextContents()
  await closeSecret(page)
  const row = page.getByRole('row', { name: new RegExp(keyId!) })
  await row.getByText('Greenhouse production').waitFor()
  await row.getByRole('button', { name: 'Rotate' }).click()
  await getDialog(page).getByRole('heading', { name: 'Rotate the secret of Greenhouse production?' }).waitFor()
  await page.keyboard.press('Escape')

  await row.getByRole('button', { name: 'Rename' }).click()
  const field = getDialog(page).getByLabel('Name (optional)')
  assert.equal(await field.inputValue(), 'Greenhouse production')
  await field.fill('\u202e')
  await getButton(page, 'Save name').click()
  await getDialog(page)
    .locator('#key-name-error')
    .getByText(/must have 1 to 80/)
    .waitFor()
  await checkPage(page, 'keys-rename-error')
  await field.fill('Ashby production')
  await page.keyboard.press('Enter')
  await row.getByText('Ashby production').waitFor()
  await checkPage(page, 'keys-named')

  await page.goto(`${app.url}/console/${orgId}/test/audit`)
  await page.getByRole('cell', { name: `Renamed key ${keyId} · key name: Ashby production` }).waitFor()
})

test('an owner lists the websites that may embed pages, and sees which line is wrong', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/live/keys`)
  const field = page.getByLabel('Allowed origins')
  await field.fill('https://careers.example.com\n\nhttp://localhost:3000')
  await getButton(page, 'Save origins').click()
  await page
    .getByText('Line 3: must start with https://; http://localhost:3000 is accepted in TEST mode only')
    .waitFor()
  await checkPage(page, 'keys-embed-error')
  await field.fill(Array.from({ length: 21 }, (_, index) => `https://a${index}.example.com`).join('\n'))
  await getButton(page, 'Save origins').click()
  const listError = page.getByText('must have at most 20 items')
  assert.doesNotMatch((await listError.textContent())!, /Line/)
  await field.fill('https://careers.example.com/\n\nhttps://jobs.example.com:8443')
  await getButton(page, 'Save origins').click()
  await page.getByRole('status').getByText('Saved.').waitFor()
  assert.equal(await field.inputValue(), 'https://careers.example.com\nhttps://jobs.example.com:8443')
  await page.setViewportSize({ width: 320, height: 800 })
  await checkPage(page, 'keys-embed-320')
  await page.reload()
  await field.waitFor()
  assert.equal(await field.inputValue(), 'https://careers.example.com\nhttps://jobs.example.com:8443')
})
