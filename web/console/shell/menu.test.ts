import assert from 'node:assert/strict'
import { test } from 'node:test'
import { button, checkPage, consolePage, nav, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'

test('the whole menu is visible on a low screen, including the sign-out button', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.given.org('Metro Staffing')
  await app.given.org('Orion Works') // so that the organisation picker is shown
  const owner = await signInMember(app, orgId, 'owner')
  for (const email of [null, owner.email]) {
    const page = await consolePage(t, app, { email, width: 1280, height: 800, timezoneId: 'Europe/Berlin' })
    await page.goto(`${app.url}/console/${orgId}/test`)
    await waitForHeading(page, 'Metro Staffing')
    const names = await page.getByRole('navigation').getByRole('link').allTextContents()
    assert.equal(names.length, email ? 14 : 21)
    for (const name of names) {
      const { y, height, width } = (await nav(page, name).boundingBox())!
      assert.ok(y + height <= 800, `${name} is visible`)
      assert.ok(height >= 24 && height < 36 && width >= 24, `${name} is on one line and large enough to tap`)
    }
    const { y, height } = (await button(page, 'Sign out').boundingBox())!
    assert.ok(y + height <= 800, 'the sign-out button is visible')
    await checkPage(page, `menu-${email ? 'owner' : 'operator'}`)
  }
})

test('the edit page of an object created through the API explains why it is read-only, and links back', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.given.org()
  const scope = { orgId, mode: 'test' as const }
  const { mandate_id, workflow_id } = await app.given.mandate(scope)
  const page = await consolePage(t, app)
  for (const [path, title, back] of [
    [`workflows/${workflow_id}`, 'Edit workflow', 'Site hiring'],
    [`mandates/${mandate_id}`, 'Edit mandate', 'Electrician'],
  ] as const) {
    await page.goto(`${app.url}/console/${orgId}/test/${path}/edit`)
    await waitForHeading(page, title)
    await page.getByText('was created through the API').waitFor()
    await page.getByRole('main').getByRole('link', { name: back }).click()
    await page.getByRole('heading', { level: 1, name: new RegExp(back) }).waitFor()
  }
})
