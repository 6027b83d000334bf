import assert from 'node:assert/strict'
import { test } from 'node:test'
import { button, consolePage, heading, look, nav } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { memberOf } from '../../../test/support/console.ts'

test('the whole menu is in view on a low screen, down to the way out', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { orgId } = await app.given.org('Metro Staffing')
  await app.given.org('Orion Works') // so that there is a choice of organisations
  const owner = await memberOf(app, orgId, 'owner')
  for (const email of [null, owner.email]) {
    const page = await consolePage(t, app, { email, width: 1280, height: 800, timezoneId: 'Europe/Berlin' })
    await page.goto(`${app.url}/console/${orgId}/test`)
    await heading(page, 'Metro Staffing')
    const names = await page.getByRole('navigation').getByRole('link').allTextContents()
    assert.equal(names.length, email ? 14 : 21)
    for (const name of names) {
      const { y, height, width } = (await nav(page, name).boundingBox())!
      assert.ok(y + height <= 800, `${name} is in view`)
      assert.ok(height >= 24 && height < 36 && width >= 24, `${name} stands on one line, as high as a finger needs`)
    }
    const { y, height } = (await button(page, 'Sign out').boundingBox())!
    assert.ok(y + height <= 800, 'the way out is in view')
    await look(page, `menu-${email ? 'owner' : 'operator'}`)
  }
})

test('what was made through the API has a page to edit that says why not, and leads back', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { orgId } = await app.given.org()
  const scope = { orgId, mode: 'test' as const }
  const { mandate_id, workflow_id } = await app.given.mandate(scope)
  const page = await consolePage(t, app)
  for (const [path, title, back] of [
    [`workflows/${workflow_id}`, 'Edit the workflow', 'Site hiring'],
    [`mandates/${mandate_id}`, 'Edit the mandate', 'Electrician'],
  ] as const) {
    await page.goto(`${app.url}/console/${orgId}/test/${path}/edit`)
    await heading(page, title)
    await page.getByText('was made through the API').waitFor()
    await page.getByRole('main').getByRole('link', { name: back }).click()
    await page.getByRole('heading', { level: 1, name: new RegExp(back) }).waitFor()
  }
})
