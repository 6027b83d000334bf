import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { queueMail } from '../../../server/mail/mail.ts'
import { button, consolePage, dialog, heading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { memberOf } from '../../../test/support/console.ts'
import { until } from '../../../test/support/until.ts'

const focused = (page: Page) => page.evaluate('document.activeElement.localName') as Promise<string>

test('the keyboard stays where it was when the row that it was in goes away', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { context } = app
  for (const address of ['asha@example.com', 'ravi@example.com']) {
    const mail = { kind: 'notice' as const, to: { address }, subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' }
    await context.db.transaction((tx) => queueMail(tx, context, mail))
  }
  await context.db.pool.query(`update pgboss.job set state = 'failed', output = '{"message": "away"}'`)
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/operator/jobs`)
  await heading(page, 'Jobs')
  const again = button(page, 'Try again: send-mail')
  await again.first().focus()
  await page.keyboard.press('Enter')
  await until(async () => (await again.count()) === 1)
  await until(async () => (await focused(page)) === 'table')
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Try again', 'on to the next row')
  await page.keyboard.press('Enter')
  await page.getByText('No job has failed.').waitFor()
  await until(async () => (await focused(page)) === 'main')

  // From a dialog, whose opener goes away with the row.
  const { orgId } = await app.given.org()
  const owner = await memberOf(app, orgId, 'owner')
  await memberOf(app, orgId, 'viewer')
  await page.goto(`${app.url}/console/${orgId}/test/members`)
  await page
    .getByRole('row', { name: /viewer/ })
    .getByRole('button', { name: 'Remove' })
    .focus()
  await page.keyboard.press('Enter')
  await dialog(page).getByRole('button', { name: 'Remove' }).focus()
  await page.keyboard.press('Enter')
  await dialog(page).waitFor({ state: 'detached' })
  await until(async () => (await focused(page)) === 'table')
  await page.getByRole('cell', { name: owner.email! }).waitFor()
})
