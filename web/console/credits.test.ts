import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { keepTime } from '../../test/clock.ts'
import { memberOf } from '../../test/console.ts'
import { button, consolePage, dialog, look } from '../../test/console-page.ts'

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
  await button(page, 'Grant live credits').click()
  await dialog(page).getByText('Granted. 5,000 live credits now.').waitFor()
  await amount.fill('250')
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
  await page
    .getByRole('row', { name: /Metro Staffing/ })
    .getByRole('cell', { name: '5,250' })
    .waitFor()

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
