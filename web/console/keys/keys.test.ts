import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { HOUR } from '../../../server/platform/clock.ts'
import { button, consolePage, dialog, heading, look } from '../../../test/browser/console-page.ts'
import { A_DAY, startApp } from '../../../test/support/app.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { signInLink } from '../../../test/support/console.ts'

const focused = async (page: Page) => {
  const { localName, textContent } = (await page.evaluate(
    '(({ localName, textContent }) => ({ localName, textContent }))(document.activeElement)',
  )) as { localName: string; textContent: string }
  return `${localName} ${textContent.slice(0, 30)}`
}

test('keys are made, rotated and revoked; secrets are shown once', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { orgId } = await app.given.org()
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/keys`)
  await heading(page, 'Keys')
  await page.getByText('No test key yet').waitFor()
  await button(page, 'Make a key').click()
  await page.getByLabel('campaigns:write').uncheck()
  await look(page, 'keys-make')
  await button(page, 'Make the key').click()
  const shownOnce = dialog(page).getByRole('heading', { name: 'Keep this secret now' })
  await shownOnce.waitFor()
  const [keyId, secret] = await dialog(page).locator('code').allTextContents()
  await look(page, 'keys-secret')
  await page.keyboard.press('Escape')
  const asMade = app.as({ orgId, mode: 'test', keyId: keyId!, secret: secret! })
  assert.equal((await asMade.get('/shifts')).status, 200)
  assert.equal((await asMade.post('/campaigns', {}, { idempotencyKey: true })).status, 403)

  await page.getByRole('button', { name: 'Limits' }).click()
  await dialog(page).getByRole('listitem').filter({ hasText: 'Reads' }).getByText('1 / 120').waitFor()
  await look(page, 'keys-limits')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Rotate' }).click()
  await button(page, 'Make a new secret').click()
  await shownOnce.waitFor()
  const [, next] = await dialog(page).locator('code').allTextContents()
  assert.notEqual(next, secret)
  await page.keyboard.press('Escape')
  assert.equal((await asMade.get('/shifts')).status, 200, 'the old secret holds for a day')
  await page.getByRole('button', { name: 'Revoke' }).click()
  await button(page, 'Revoke the key').click()
  await page.getByRole('cell', { name: 'revoked' }).waitFor()
  await look(page, 'keys')
  assert.equal((await asMade.get('/shifts')).status, 401)
})

test('a key ends with its last day', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { orgId } = await app.given.org()
  const page = await consolePage(t, app, { timezoneId: 'Asia/Kolkata' })
  const at = `${app.url}/console/${orgId}/test/keys`
  await page.goto(at)
  await button(page, 'Make a key').click()
  await dialog(page).waitFor()
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  assert.equal(await focused(page), 'button Make a key', 'back where it was')
  await page.keyboard.press('Enter')
  await dialog(page).waitFor()
  assert.equal(await focused(page), 'h2 Make a key')
  await page.keyboard.press('Enter') // held too long, it makes no key
  await page.getByLabel('Last day').fill('2026-03-10') // yesterday
  await button(page, 'Make the key').click()
  await page.locator('#key-last-day-fault').getByText('must be a time to come').waitFor()
  await page.getByLabel('Last day').fill('2026-03-12')
  await page.locator('#key-last-day-fault').waitFor({ state: 'detached' })
  await button(page, 'Make the key').click()
  await dialog(page)
    .getByText(/The key is valid until Mar 12,( 2026,)? 11:59/)
    .waitFor()
  const [keyId, secret] = await dialog(page).locator('code').allTextContents()
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  const row = page.getByRole('row', { name: new RegExp(keyId!) })
  await row.getByRole('cell', { name: /Mar 12,( 2026,)? 11:59/ }).waitFor()
  assert.equal(await focused(page), 'button Make a key', 'after two dialogs in a row too')
  await look(page, 'keys-expiry')

  await app.context.keyring.refresh()
  const asMade = app.as({ orgId, mode: 'test', keyId: keyId!, secret: secret! })
  assert.equal((await asMade.get('/shifts')).status, 200)
  app.clock.set('2026-03-12T18:29:30.000Z') // half a minute before midnight in India
  assert.equal((await asMade.get('/shifts')).status, 200)
  app.clock.advance(A_DAY)
  assert.equal((await asMade.get('/shifts')).status, 401)
  await page.goto(await signInLink(app)) // the session has ended meanwhile
  await heading(page, 'Acme Staffing')
  await page.goto(at)
  await row.getByText('expired').waitFor()
  assert.equal(await row.getByRole('button', { name: 'Rotate' }).count(), 0)
})

test('after a rotation the old secret holds for the hours that were chosen', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { orgId } = await app.given.org()
  const key = await app.given.key(orgId, { mode: 'test' })
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/keys`)
  const row = page.getByRole('row', { name: new RegExp(key.keyId) })
  const rotate = async (hours: string) => {
    await row.getByRole('button', { name: 'Rotate' }).click()
    const field = dialog(page).getByLabel('Hours that the old secret stays valid')
    assert.equal(await field.inputValue(), '24')
    await field.fill(hours)
    await button(page, 'Make a new secret').click()
  }
  const secretShown = async () => {
    await dialog(page).getByRole('heading', { name: 'Keep this secret now' }).waitFor()
    return (await dialog(page).locator('code').allTextContents())[1]!
  }
  const status = async (secret: string) => {
    await app.context.keyring.refresh()
    return (await app.as({ ...key, secret }).get('/shifts')).status
  }

  await rotate('721')
  await dialog(page).locator('#key-grace-hours-fault').waitFor()
  await dialog(page).getByLabel('Hours that the old secret stays valid').fill('2')
  await button(page, 'Make a new secret').click()
  const second = await secretShown()
  await dialog(page).getByText('The old secret stays valid until').waitFor()
  await page.keyboard.press('Escape')
  await row.getByText('old secret valid until').waitFor()
  await look(page, 'keys-two-secrets')
  assert.deepEqual([await status(key.secret), await status(second)], [200, 200])
  app.clock.advance(2 * HOUR)
  assert.deepEqual([await status(key.secret), await status(second)], [401, 200])
  await page.reload()
  await row.waitFor()
  assert.equal(await row.getByText('old secret valid until').count(), 0)

  await rotate('2')
  const third = await secretShown()
  await page.keyboard.press('Escape')
  await row.getByRole('button', { name: 'Rotate' }).click()
  await dialog(page).getByText('Two secrets are valid now.').waitFor()
  await look(page, 'keys-rotate-again')
  await dialog(page).getByLabel('Hours that the old secret stays valid').fill('0')
  await button(page, 'Make a new secret').click()
  const fourth = await secretShown()
  await dialog(page).getByText('The old secret is not valid any more.').waitFor()
  assert.deepEqual([await status(second), await status(third), await status(fourth)], [401, 401, 200])
})
