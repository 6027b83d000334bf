import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkPage, getButton, getDialog, openConsolePage } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'

test('an operator grants credits in one mode, and the organisation can use them immediately', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg('Metro Staffing')
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/operator/organisations`)
  await getButton(page, 'Credits of Metro Staffing').click()
  await getDialog(page).getByText('No entries yet.').waitFor()
  const amount = getDialog(page).getByLabel('Credits to grant')
  const liveRadio = getDialog(page).getByRole('radio', { name: /^Live/ })
  await liveRadio.check()
  await amount.fill('0')
  await getButton(page, 'Grant live credits').click()
  assert.equal(await amount.evaluate((input: any) => input.validity.valid), false, 'the browser reports the error')
  await amount.fill('5000')
  const statusMessage = getDialog(page).getByRole('status')
  assert.equal(
    await statusMessage.textContent(),
    '',
    'the status element exists before its text, so that screen readers announce it',
  )
  await getButton(page, 'Grant live credits').click()
  await statusMessage.getByText('Granted. The balance is now 5,000 live credits.').waitFor()
  assert.equal(await focusedName(page), 'Credits to grant', 'the input for the next amount')
  await page.keyboard.type('250')
  await page.keyboard.press('Enter')
  await getDialog(page).getByText('Granted. The balance is now 5,250 live credits.').waitFor()
  await getDialog(page)
    .getByRole('row', { name: /\+250.*5,250/ })
    .waitFor()
  await getDialog(page).getByRole('radio', { name: /^Test/ }).check()
  await getDialog(page).getByText('No entries yet.').waitFor()
  assert.equal(
    await getDialog(page)
      .getByText(/The balance is now/)
      .count(),
    0,
    'the message of the other mode is gone',
  )
  await checkPage(page, 'credits-test')
  await page.keyboard.press('Escape')
  await getDialog(page).waitFor({ state: 'detached' })
  assert.equal(await focusedName(page), 'Credits of Metro Staffing', 'the button that opened the dialog')
  await page
    .getByRole('row', { name: /Metro Staffing/ })
    .getByRole('cell', { name: '5,250' })
    .waitFor()

  // An error is announced, and the focus stays on the button.
  await getButton(page, 'Credits of Metro Staffing').click()
  await amount.fill('1000000000')
  await app.context.db.asOwner((owner) => owner.pool.query('alter table credit_entries rename to credit_entries_away'))
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await getDialog(page).getByRole('alert').waitFor()
  assert.equal(await focusedName(page), 'Grant test credits')
  await app.context.db.asOwner((owner) => owner.pool.query('alter table credit_entries_away rename to credit_entries'))
  await page.keyboard.press('Escape')

  const recruiterPage = await openConsolePage(t, app, { email: recruiter.email })
  await recruiterPage.goto(`${app.url}/console/${orgId}/live`)
  await recruiterPage
    .getByRole('link', { name: /^Credits/ })
    .getByText('5,250')
    .waitFor()
  await recruiterPage.goto(`${app.url}/console/${orgId}/live/campaigns`)
  await recruiterPage.getByText('5,250 credits left').waitFor()
  assert.equal(await recruiterPage.getByRole('button', { name: /Grant/ }).count(), 0)
})

/** Returns the accessible name of the focused element. */
function focusedName(page: Page): Promise<string> {
  return page.evaluate(`{
    const { activeElement: element } = document
    element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent.slice(0, 60)
  }`)
}
