import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { button, checkPage, consolePage, dialog } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'

test('an operator grants credits in one mode, and the organisation can use them immediately', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.given.org('Metro Staffing')
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/operator/organisations`)
  await button(page, 'Credits of Metro Staffing').click()
  await dialog(page).getByText('No entries yet.').waitFor()
  const amount = dialog(page).getByLabel('Credits to grant')
  const live = dialog(page).getByRole('radio', { name: /^Live/ })
  await live.check()
  await amount.fill('0')
  await button(page, 'Grant live credits').click()
  assert.equal(await amount.evaluate((input: any) => input.validity.valid), false, 'the browser reports the error')
  await amount.fill('5000')
  const status = dialog(page).getByRole('status')
  assert.equal(
    await status.textContent(),
    '',
    'the status element exists before its text, so that screen readers announce it',
  )
  await button(page, 'Grant live credits').click()
  await status.getByText('Granted. The balance is now 5,000 live credits.').waitFor()
  assert.equal(await focused(page), 'Credits to grant', 'the input for the next amount')
  await page.keyboard.type('250')
  await page.keyboard.press('Enter')
  await dialog(page).getByText('Granted. The balance is now 5,250 live credits.').waitFor()
  await dialog(page)
    .getByRole('row', { name: /\+250.*5,250/ })
    .waitFor()
  await dialog(page).getByRole('radio', { name: /^Test/ }).check()
  await dialog(page).getByText('No entries yet.').waitFor()
  assert.equal(
    await dialog(page)
      .getByText(/The balance is now/)
      .count(),
    0,
    'the message of the other mode is gone',
  )
  await checkPage(page, 'credits-test')
  await page.keyboard.press('Escape')
  assert.equal(await focused(page), 'Credits of Metro Staffing', 'the button that opened the dialog')
  await page
    .getByRole('row', { name: /Metro Staffing/ })
    .getByRole('cell', { name: '5,250' })
    .waitFor()

  // An error is announced, and the focus stays on the button.
  await button(page, 'Credits of Metro Staffing').click()
  await amount.fill('1000000000')
  await app.context.db.pool.query('alter table credit_entries rename to credit_entries_away')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await dialog(page).getByRole('alert').waitFor()
  assert.equal(await focused(page), 'Grant test credits')
  await app.context.db.pool.query('alter table credit_entries_away rename to credit_entries')
  await page.keyboard.press('Escape')

  const reader = await consolePage(t, app, { email: recruiter.email })
  await reader.goto(`${app.url}/console/${orgId}/live`)
  await reader
    .getByRole('link', { name: /^Credits/ })
    .getByText('5,250')
    .waitFor()
  await reader.goto(`${app.url}/console/${orgId}/live/campaigns`)
  await reader.getByText('5,250 credits left').waitFor()
  assert.equal(await reader.getByRole('button', { name: /Grant/ }).count(), 0)
})

/** Returns the accessible name of the focused element. */
function focused(page: Page): Promise<string> {
  return page.evaluate(`{
    const { activeElement: element } = document
    element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent.slice(0, 60)
  }`)
}
