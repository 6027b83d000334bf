import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { button, consolePage, dialog, look } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { memberOf } from '../../../test/support/console.ts'

test('the operator grants credits in one mode, and the organisation has them at once', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { orgId } = await app.given.org('Metro Staffing')
  const recruiter = await memberOf(app, orgId, 'recruiter')
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/operator/organisations`)
  await button(page, 'Credits of Metro Staffing').click()
  await dialog(page).getByText('None granted, none spent.').waitFor()
  const amount = dialog(page).getByLabel('Grant')
  const live = dialog(page).getByRole('radio', { name: /^Live/ })
  await live.check()
  await amount.fill('0')
  await button(page, 'Grant live credits').click()
  assert.equal(await amount.evaluate((input: any) => input.validity.valid), false, 'the browser says so itself')
  await amount.fill('5000')
  const told = dialog(page).getByRole('status')
  assert.equal(await told.textContent(), '', 'it is there before it speaks, so that it is read out')
  await button(page, 'Grant live credits').click()
  await told.getByText('Granted. 5,000 live credits now.').waitFor()
  assert.equal(await focused(page), 'Grant', 'where the next amount is typed')
  await page.keyboard.type('250')
  await page.keyboard.press('Enter')
  await dialog(page).getByText('Granted. 5,250 live credits now.').waitFor()
  await dialog(page)
    .getByRole('row', { name: /\+250.*5,250/ })
    .waitFor()
  await dialog(page).getByRole('radio', { name: /^Test/ }).check()
  await dialog(page).getByText('None granted, none spent.').waitFor()
  assert.equal(
    await dialog(page)
      .getByText(/live credits now/)
      .count(),
    0,
    'what was said was of the other mode',
  )
  await look(page, 'credits-test')
  await page.keyboard.press('Escape')
  assert.equal(await focused(page), 'Credits of Metro Staffing', 'back where it was opened')
  await page
    .getByRole('row', { name: /Metro Staffing/ })
    .getByRole('cell', { name: '5,250' })
    .waitFor()

  // A refusal leaves the focus where the button was pressed, and is read out.
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

/** What the focused element is called. */
function focused(page: Page): Promise<string> {
  return page.evaluate(`{
    const { activeElement: element } = document
    element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent.slice(0, 60)
  }`)
}
