import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { queueEmail } from '../../../server/mail/mail.ts'
import { getButton, getDialog, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { until } from '../../../test/support/until.ts'

/** Waits until an element with this tag has the focus; the error names the element that has it instead, and the text of the page. */
async function waitForFocus(page: Page, tag: string) {
  const isFocused = async () => (await page.evaluate('document.activeElement.localName')) === tag
  await until(isFocused).catch(async (cause) => {
    const focused = await page.evaluate('document.activeElement.outerHTML.slice(0, 200)')
    const text = await page.locator('main').innerText()
    throw new Error(`${focused} has the focus instead of ${tag} on the page: ${text}`, { cause })
  })
}

test('the focus moves to the table when the focused row is removed', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { context } = app
  for (const address of ['asha@example.com', 'ravi@example.com']) {
    const email = { kind: 'notice' as const, to: { address }, subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' }
    await context.db.transaction((tx) => queueEmail(tx, context, email))
  }
  await context.db.pool.query(`update pgboss.job set state = 'failed', output = '{"message": "away"}'`)
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/operator/jobs`)
  await waitForHeading(page, 'Background jobs')
  const retry = getButton(page, 'Retry: send-mail')
  await retry.first().focus()
  await page.keyboard.press('Enter')
  await until(async () => (await retry.count()) === 1)
  await waitForFocus(page, 'table')
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Retry', 'the next row')
  await page.keyboard.press('Enter')
  await page.getByText('No failed jobs.').waitFor()
  await waitForFocus(page, 'main')

  // Also after a dialog whose opener is removed with the row.
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  await signInMember(app, orgId, 'viewer')
  await page.goto(`${app.url}/console/${orgId}/test/members`)
  await page
    .getByRole('row', { name: /viewer/ })
    .getByRole('button', { name: 'Remove' })
    .focus()
  await page.keyboard.press('Enter')
  await getDialog(page).getByRole('button', { name: 'Remove' }).focus()
  await page.keyboard.press('Enter')
  await getDialog(page).waitFor({ state: 'detached' })
  await waitForFocus(page, 'table')
  await page.getByRole('cell', { name: owner.email!, exact: true }).waitFor()
})
